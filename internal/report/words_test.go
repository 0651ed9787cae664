package report

import (
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
)

// TestWordsAreExplained checks every word of an enum, and every rule, that a report
// or a list of collections can show.
func TestWordsAreExplained(t *testing.T) {
	shown := []string{"gen 0", "gen 1", "gen 2", "time in GC", "R01", "exact", "estimate", "lower_bound", "heap_walk"}
	for _, r := range findings.Rules() {
		shown = append(shown, r.ID)
	}
	generations := gc.GenerationNames()
	shown = append(shown, generations[:]...)
	for k := gc.Blocking; k <= gc.Foreground; k++ {
		shown = append(shown, k.String())
	}
	named := func(name string) bool { return !strings.HasSuffix(name, ")") } // GCReason(18)
	for r := clr.GCReason(0); named(r.String()); r++ {
		shown = append(shown, r.String())
	}
	for r := clr.SuspendReason(0); named(r.String()); r++ {
		shown = append(shown, r.String())
	}
	for r := clr.RootType(0); named(r.String()); r++ {
		shown = append(shown, r.String())
	}
	for bit := range 32 {
		for _, names := range [][]string{clr.CondemnReasons1(1 << bit).Names(), clr.GlobalMechanisms(1 << bit).Names()} {
			for _, name := range names {
				if !strings.HasPrefix(name, "0x") {
					shown = append(shown, name)
				}
			}
		}
	}
	for severity := findings.Note; severity <= findings.Problem; severity++ {
		shown = append(shown, severity.String(), findings.Confidence(severity).String())
	}
	for _, name := range shown {
		found := Definitions(name)
		if len(found) == 0 {
			t.Errorf("%s is not explained", name)
		}
		for _, f := range found {
			if f.Text == "" || f.Unit == "" || f.Source == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	for alias := range aliases {
		if len(Definitions(alias)) == 0 {
			t.Errorf("%s means nothing", alias)
		}
	}
	if n := len(shown); n < 120 {
		t.Errorf("%d words", n)
	}
}
