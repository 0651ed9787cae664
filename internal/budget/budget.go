// Package budget compares runs of a program with a budget for their garbage
// collection: absolute limits, and changes from a baseline.
package budget

import (
	"bytes"
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

// Version is the version of the budget files that Parse reads.
const Version = 1

// MaxSize bounds a budget file.
const MaxSize = 1 << 20

// A Budget is what a run may cost. The zero Budget allows everything.
type Budget struct {
	Version int `yaml:"version"`
	// Limits are upper limits of metrics, by their names in compare.Metrics; totals also
	// by second, with the suffix _per_second.
	Limits map[string]float64 `yaml:"limits,omitempty"`
	// Baseline is how much metrics may exceed the baseline's, in percent.
	Baseline map[string]float64 `yaml:"baseline,omitempty"`
	// Findings are the rules that must not fire, as R21.
	Findings []string `yaml:"findings,omitempty"`
	// CannotTell is "pass" or "fail": what it means for the exit code that a
	// metric is unknown, or its change cannot be told from noise.
	CannotTell string `yaml:"cannot_tell,omitempty"`
}

const perSecond = "_per_second"

// Parse reads a budget file. Its errors name the line or the key.
func Parse(data []byte) (*Budget, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("a budget has at most %d bytes, this has %d", MaxSize, len(data))
	}
	b := new(Budget)
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(b); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not a budget: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if b.Version != Version {
		return nil, fmt.Errorf("version is %d, want %d", b.Version, Version)
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
		} else if basis == compare.PerSecond {
			return nil, fmt.Errorf("%s: write %s; runs of different length are compared per second automatically", name, m.Name)
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
	base, rate := strings.CutSuffix(name, perSecond)
	var names []string
	for _, m := range compare.Metrics() {
		if m.Name == base && (!rate || m.Total) {
			if rate {
				return &m, compare.PerSecond, nil
			}
			return &m, compare.PerRun, nil
		}
		names = append(names, m.Name)
		if m.Total {
			names = append(names, m.Name+perSecond)
		}
	}
	return nil, "", fmt.Errorf("unknown metric %q; valid metrics: %s", name, strings.Join(names, ", "))
}

// Room is how much more than the runs' figures FromRuns allows.
const Room = 1.25

// initial are the metrics that FromRuns limits: the few that say most.
var initial = []string{
	"pause_max_ms", "pause_p99_ms", "pause_pct", "allocated_bytes", "gen2_collections", "heap_peak_bytes", "committed_peak_bytes",
}

// FromRuns returns a budget that the runs meet, with room. It sets no limit for metrics
// that a run lacks.
func FromRuns(runs []*compare.Run) *Budget {
	b := &Budget{Version: Version, Limits: make(map[string]float64), Baseline: map[string]float64{"allocated_bytes": 3, "collections": 5, "pause_pct": 10}}
	for _, m := range compare.Metrics() {
		if !slices.Contains(initial, m.Name) {
			continue
		}
		most := math.Inf(-1)
		for _, r := range runs {
			most = math.Max(most, m.Value(r, compare.PerRun)) // NaN if one is
		}
		if !math.IsNaN(most) && !math.IsInf(most, 0) {
			b.Limits[m.Name] = round(most*Room, m.Unit)
		}
	}
	return b
}

// round rounds up to two significant digits, counts to whole ones.
func round(v float64, unit compare.Unit) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	if unit == compare.Count || unit == compare.Bytes {
		scale = max(scale, 1)
	}
	if scale < 1 {
		return math.Ceil(v/scale) / math.Round(1/scale)
	}
	return math.Ceil(v/scale) * scale
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
		"limits":      "# of each run, in the unit of the name",
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
