package findings_test

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/gctrail/gctrail/gc/findings"
)

// tries matches advice that is worded as a thing to try.
var tries = regexp.MustCompile(`(?i)\btry\b`)

// TestEveryRuleHasItsRow checks that each rule names a program whose trouble is known,
// on which its claim was tested, and that each piece of its advice and each setting was
// measured, or is worded as a thing to try.
func TestEveryRuleHasItsRow(t *testing.T) {
	for _, r := range findings.Rules() {
		for _, fault := range faultsOf(&r) {
			t.Errorf("%s: %s", r.ID, fault)
		}
	}
}

// faultsOf returns the gaps of a rule's row.
func faultsOf(r *findings.Rule) []string {
	var faults []string
	if len(r.Tested) == 0 {
		faults = append(faults, "no program on which its claim was tested")
	}
	for _, c := range r.Tested {
		if c.Program == "" || c.Truth == "" {
			faults = append(faults, "a program without its name, or without what is true of it")
		}
	}
	for _, a := range r.Advice {
		if a.Text != "" && (len(a.Settings) == 0 || !reflect.DeepEqual(a.Basis, findings.Basis{})) {
			faults = append(faults, faultsOfBasis(a.Basis, a.Text, a.Text)...)
		}
		for _, s := range a.Settings {
			faults = append(faults, faultsOfBasis(s.Basis, a.Text, s.Variable+"="+s.Value)...)
		}
	}
	return faults
}

// faultsOfBasis returns the faults in the basis of advice with the given text.
func faultsOfBasis(b findings.Basis, text, what string) []string {
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
	claims := []findings.Claim{{Program: "lab poh, .NET 10", Truth: "202 MB of the POH are free"}}
	untried := findings.Basis{Untried: "no program at hand"}
	measured := findings.Basis{Measured: []findings.Measurement{{Program: "lab poh, .NET 10", Change: "fewer", Before: "2 GCs", After: "1 GC"}}}
	for name, tt := range map[string]struct {
		rule  findings.Rule
		wants int
	}{
		"whole":              {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Do it.", Basis: measured}}}, 0},
		"no claim":           {findings.Rule{Advice: []findings.RuleAdvice{{Text: "Do it.", Basis: measured}}}, 1},
		"no basis":           {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Do it."}}}, 1},
		"promise":            {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Do it.", Basis: untried}}}, 1},
		"a thing to try":     {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Try it.", Basis: untried}}}, 0},
		"two bases":          {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Try it.", Basis: findings.Basis{Untried: "x", Looks: true}}}}, 1},
		"setting, no basis":  {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Do it.", Settings: []findings.Setting{{}}}}}, 1},
		"setting, measured":  {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Do it.", Settings: []findings.Setting{{Basis: measured}}}}}, 0},
		"setting, a promise": {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Text: "Do it.", Settings: []findings.Setting{{Basis: untried}}}}}, 1},
		"next step only":     {findings.Rule{Tested: claims, Advice: []findings.RuleAdvice{{Next: []findings.Step{{}}}}}, 0},
	} {
		if got := faultsOf(&tt.rule); len(got) != tt.wants {
			t.Errorf("%s: %q", name, got)
		}
	}
}
