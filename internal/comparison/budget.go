package comparison

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gctrail/gctrail/gc/compare"
)

// BudgetVersion is the version of the budget files that ParseBudget reads.
const BudgetVersion = 1

// MaxBudgetSize bounds a budget file.
const MaxBudgetSize = 1 << 20

// A Budget limits the cost of a run. The zero Budget allows everything.
type Budget struct {
	Version int `yaml:"version"`
	// Limits are upper limits of metrics, by their names in compare.Metrics; totals also
	// by second, with the suffix _per_second.
	Limits map[string]float64 `yaml:"limits,omitempty"`
	// Baseline is how much metrics may exceed the baseline's, in percent.
	Baseline map[string]float64 `yaml:"baseline,omitempty"`
	// Findings are the rules that must not fire, as R21.
	Findings []string `yaml:"findings,omitempty"`
	// CannotTell is "pass" or "fail": the result if a metric is unknown, or its change
	// cannot be distinguished from noise.
	CannotTell string `yaml:"cannot_tell,omitempty"`
	// Work is how much work each run does.
	Work Work `yaml:"work,omitempty"`

	comment string   // of Limits, as YAML writes it
	loose   []string // metrics that vary too much for a limit to catch much, in words
}

// Loose returns a line for each metric that varies so much between the runs of BudgetFromRuns
// that its limit catches little; none for a budget of a file.
func (b *Budget) Loose() []string { return b.loose }

// limitSuffixes are the suffixes of limits of totals that are divided by a run's length or work.
var limitSuffixes = [...]struct {
	text  string
	basis compare.Basis
	words string
}{
	{"_per_second", compare.PerSecond, " per second"},
	{"_per_work", compare.PerWork, " per unit of work"},
}

// suffixOn returns the suffix of limits on a basis, and its words; empty for those of a run.
func suffixOn(basis compare.Basis) (text, words string) {
	for _, s := range limitSuffixes {
		if s.basis == basis {
			return s.text, s.words
		}
	}
	return "", ""
}

// ParseBudget reads a budget file. Its errors name the line or the key.
func ParseBudget(data []byte) (*Budget, error) {
	if len(data) > MaxBudgetSize {
		return nil, fmt.Errorf("a budget has at most %d bytes, this has %d", MaxBudgetSize, len(data))
	}
	b := new(Budget)
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(b); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not a budget: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if b.Version != BudgetVersion {
		return nil, fmt.Errorf("version is %d, want %d", b.Version, BudgetVersion)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Limits)) {
		if _, _, err := lookUp(name); err != nil {
			return nil, err
		}
		if v := b.Limits[name]; !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: a limit must be 0 or more, not %v", name, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Baseline)) {
		if m, basis, err := lookUp(name); err != nil {
			return nil, err
		} else if basis != compare.PerRun {
			return nil, fmt.Errorf("%s: write %s; the unit of the totals (per run, per second or per work) is chosen automatically", name, m.Name)
		}
		if v := b.Baseline[name]; !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: an allowance must be a percentage of 0 or more, not %v", name, v)
		}
	}
	for _, rule := range b.Findings {
		if !ruleID.MatchString(rule) {
			return nil, fmt.Errorf("findings: a rule is written as R21, not %q", rule)
		}
	}
	switch b.CannotTell {
	case "", "pass", "fail":
		return b, nil
	}
	return nil, fmt.Errorf(`cannot_tell is "pass" or "fail", not %q`, b.CannotTell)
}

var ruleID = regexp.MustCompile(`^R[0-9]{2}$`)

// lookUp finds the metric that a key of a budget names.
func lookUp(name string) (*compare.Metric, compare.Basis, error) {
	base, basis := name, compare.PerRun
	for _, s := range limitSuffixes {
		if cut, found := strings.CutSuffix(name, s.text); found {
			base, basis = cut, s.basis
		}
	}
	var names []string
	for _, m := range compare.Metrics() {
		if m.Name == base && (basis == compare.PerRun || m.Total) {
			return &m, basis, nil
		}
		names = append(names, m.Name)
		if m.Total {
			for _, s := range limitSuffixes {
				names = append(names, m.Name+s.text)
			}
		}
	}
	return nil, "", fmt.Errorf("unknown metric %q; valid metrics: %s", name, strings.Join(names, ", "))
}

// Ready returns an error if the budget has nothing to check, or if only one of two is
// present: its section on a baseline, or the baseline itself.
func (b *Budget) Ready(baseline bool) error {
	switch {
	case len(b.Limits)+len(b.Baseline)+len(b.Findings) == 0:
		return errors.New("the budget has nothing to check: it needs limits, baseline or findings")
	case len(b.Baseline) > 0 && !baseline:
		return errors.New("the budget has a baseline: give the traces to compare with as --baseline")
	case len(b.Baseline) == 0 && baseline:
		return errors.New("--baseline needs a budget that says what may increase, as in baseline: {allocated_bytes: 3}")
	}
	return nil
}

// NeedsWork returns the first limit that is per unit of work; empty if there is none.
func (b *Budget) NeedsWork() string {
	for _, name := range slices.Sorted(maps.Keys(b.Limits)) {
		if _, basis, err := lookUp(name); err == nil && basis == compare.PerWork {
			return name
		}
	}
	return ""
}

// YAML writes the budget as a file, with comments.
func (b *Budget) YAML() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# What garbage collection may cost: gctrail check --budget FILE TRACE\n")
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	var node yaml.Node
	if err := node.Encode(b); err != nil {
		return nil, err
	}
	comments := map[string]string{
		"limits":      cmp.Or(b.comment, "# of each run, in the unit of the name"),
		"work":        "# of each run: an amount, or an expression that finds it in the program's output",
		"baseline":    "# percent more than the runs of --baseline",
		"findings":    "# rules that must not fire",
		"cannot_tell": "# pass or fail",
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		node.Content[i].LineComment = comments[node.Content[i].Value]
	}
	if err := e.Encode(&node); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}
