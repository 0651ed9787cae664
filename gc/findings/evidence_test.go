package findings_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/findings"
)

// evidenceFile has what supports the rules. The program does not need it: docs/findings.md and
// docs/textbook show it.
const evidenceFile = "testdata/evidence.json"

// evidence supports rules, their advice, and settings.
type evidence struct {
	Shared   map[string]measurement // that more than one basis names
	Rules    map[string]support     // by id
	Settings map[string]basis       // by variable and value, as in "DOTNET_gcServer=0x1"

	unused []string // of Shared
}

// support is the evidence for one rule.
type support struct {
	Tested []claim
	Advice map[string]basis // by text
}

// A claim is a program on which a rule was tested, with a fact about it that its own output or
// its source gives, independently of any trace.
type claim struct {
	Program string // with its runtime: "lab poh, .NET 10"
	Truth   string // "202 of the 265 MB of its pinned object heap are free"
}

// A measurement compares a program before and after it followed advice.
type measurement struct {
	Shared        string // its name, where Shared of evidence has it
	Program       string // with its runtime, and the settings of both sides
	Change        string // "GCGen0MaxBudget=0x2000000"
	Before, After string // figures with units, as "451 MB committed, 2.1 % paused"
}

// A basis supports advice or a setting: measurements, or the reason that there are none.
// Advice without measurements is worded as a thing to try. Advice that only looks further
// needs neither, because it changes nothing that could be measured.
type basis struct {
	Measured []measurement
	Untried  string // why it was not measured
	Looks    bool
}

// loadEvidence reads the evidence, with shared measurements in their places.
func loadEvidence(t *testing.T) *evidence {
	t.Helper()
	b, err := os.ReadFile(evidenceFile)
	if err != nil {
		t.Fatal(err)
	}
	e := new(evidence)
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(e); err != nil {
		t.Fatalf("%s: %v", evidenceFile, err)
	}
	used := map[string]bool{}
	for _, s := range e.Rules {
		e.resolve(s.Advice, used)
	}
	e.resolve(e.Settings, used)
	for name := range e.Shared {
		if !used[name] {
			e.unused = append(e.unused, name)
		}
	}
	return e
}

// resolve replaces the names of shared measurements, and notes them.
func (e *evidence) resolve(all map[string]basis, used map[string]bool) {
	for _, b := range all {
		for i := range b.Measured {
			if name := b.Measured[i].Shared; name != "" {
				b.Measured[i], used[name] = e.Shared[name], true
			}
		}
	}
}

func (e *evidence) ofAdvice(r *findings.Rule, a *findings.RuleAdvice) basis {
	return e.Rules[r.ID].Advice[a.Text]
}

func (e *evidence) ofSetting(s *findings.Setting) basis { return e.Settings[s.Variable+"="+s.Value] }

// tries matches advice that is worded as a thing to try.
var tries = regexp.MustCompile(`(?i)\btry\b`)

// TestEveryRuleHasItsRow checks that each rule names a program whose trouble is known,
// on which its claim was tested, and that each piece of its advice and each setting was
// measured, or is worded as a thing to try.
func TestEveryRuleHasItsRow(t *testing.T) {
	e := loadEvidence(t)
	for _, r := range findings.Rules() {
		for _, fault := range e.faultsOf(&r) {
			t.Errorf("%s: %s", r.ID, fault)
		}
	}
}

// TestEvidenceIsUsed checks that the file has nothing for rules, advice and settings that there are not,
// and no shared measurement that no basis names.
func TestEvidenceIsUsed(t *testing.T) {
	e := loadEvidence(t)
	rules := findings.Rules()
	settings := map[string]bool{}
	for _, r := range rules {
		for text := range e.Rules[r.ID].Advice {
			if !slices.ContainsFunc(r.Advice, func(a findings.RuleAdvice) bool { return a.Text == text }) {
				t.Errorf("%s does not advise: %s", r.ID, text)
			}
		}
		for _, a := range r.Advice {
			for _, s := range a.Settings {
				settings[s.Variable+"="+s.Value] = true
			}
		}
	}
	for id := range e.Rules {
		if !slices.ContainsFunc(rules, func(r findings.Rule) bool { return r.ID == id }) {
			t.Errorf("there is no rule %s", id)
		}
	}
	for s := range e.Settings {
		if !settings[s] {
			t.Errorf("no rule advises %s", s)
		}
	}
	if len(e.unused) > 0 {
		t.Errorf("no basis names the shared measurements %q", e.unused)
	}
}

// faultsOf returns the gaps of a rule's row.
func (e *evidence) faultsOf(r *findings.Rule) []string {
	var faults []string
	if len(e.Rules[r.ID].Tested) == 0 {
		faults = append(faults, "no program on which its claim was tested")
	}
	for _, c := range e.Rules[r.ID].Tested {
		if c.Program == "" || c.Truth == "" {
			faults = append(faults, "a program without its name, or without what is true of it")
		}
	}
	for _, a := range r.Advice {
		if b := e.ofAdvice(r, &a); a.Text != "" && (len(a.Settings) == 0 || !reflect.DeepEqual(b, basis{})) {
			faults = append(faults, b.faults(a.Text, a.Text)...)
		}
		for _, s := range a.Settings {
			b := e.ofSetting(&s)
			faults = append(faults, b.faults(a.Text, s.Variable+"="+s.Value)...)
		}
	}
	return faults
}

// faults returns the faults in the basis of advice with the given text.
func (b *basis) faults(text, what string) []string {
	stated := 0
	for _, is := range []bool{len(b.Measured) > 0, b.Untried != "", b.Looks} {
		if is {
			stated++
		}
	}
	if stated != 1 {
		return []string{what + ": neither measured, nor the reason why not, nor a look further; or more than one of them"}
	}
	if b.Untried != "" && !tries.MatchString(text) {
		return []string{what + ": was not measured, and is not worded as a thing to try"}
	}
	for _, m := range b.Measured {
		if m.Program == "" || m.Change == "" || m.Before == "" || m.After == "" {
			return []string{what + ": a measurement that lacks something"}
		}
	}
	return nil
}

// TestRowsAreRequired checks that the test detects a rule without a row, and advice that
// promises an unmeasured effect.
func TestRowsAreRequired(t *testing.T) {
	claims := []claim{{Program: "lab poh, .NET 10", Truth: "202 MB of the POH are free"}}
	untried := basis{Untried: "no program at hand"}
	measured := basis{Measured: []measurement{{Program: "lab poh, .NET 10", Change: "fewer", Before: "2 GCs", After: "1 GC"}}}
	setting := []findings.Setting{{Variable: "V", Value: "1"}}
	for name, tt := range map[string]struct {
		tested  []claim
		advice  findings.RuleAdvice
		basis   basis
		setting basis
		wants   int
	}{
		"whole":              {claims, findings.RuleAdvice{Text: "Do it."}, measured, basis{}, 0},
		"no claim":           {nil, findings.RuleAdvice{Text: "Do it."}, measured, basis{}, 1},
		"no basis":           {claims, findings.RuleAdvice{Text: "Do it."}, basis{}, basis{}, 1},
		"promise":            {claims, findings.RuleAdvice{Text: "Do it."}, untried, basis{}, 1},
		"a thing to try":     {claims, findings.RuleAdvice{Text: "Try it."}, untried, basis{}, 0},
		"two bases":          {claims, findings.RuleAdvice{Text: "Try it."}, basis{Untried: "x", Looks: true}, basis{}, 1},
		"setting, no basis":  {claims, findings.RuleAdvice{Text: "Do it.", Settings: setting}, basis{}, basis{}, 1},
		"setting, measured":  {claims, findings.RuleAdvice{Text: "Do it.", Settings: setting}, basis{}, measured, 0},
		"setting, a promise": {claims, findings.RuleAdvice{Text: "Do it.", Settings: setting}, basis{}, untried, 1},
		"next step only":     {claims, findings.RuleAdvice{Next: []findings.Step{{}}}, basis{}, basis{}, 0},
	} {
		e := &evidence{
			Rules:    map[string]support{"R00": {tt.tested, map[string]basis{tt.advice.Text: tt.basis}}},
			Settings: map[string]basis{"V=1": tt.setting},
		}
		if got := e.faultsOf(&findings.Rule{ID: "R00", Advice: []findings.RuleAdvice{tt.advice}}); len(got) != tt.wants {
			t.Errorf("%s: %q", name, got)
		}
	}
}
