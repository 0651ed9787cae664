package whatif

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestConserve reads GCConserveMemory from the environment of the process. A trace that
// shows that it is set, but not to which value, lacks an input of gen 2's budget.
func TestConserve(t *testing.T) {
	conserving := gc.Some(clr.CondemnReasons1MaxGenerationHighFragmentation)
	adapts := gc.Process{Adaptation: gc.Adaptation{Tunings: 1}}
	for _, tt := range []struct {
		name    string
		process gc.Process
		set     []string
		joint   gc.Opt[clr.CondemnReasons1]
		want    float64
		lacks   string
	}{
		{name: "not set", set: []string{"DOTNET_gcServer=1"}},
		{name: "set", set: []string{"DOTNET_gcServer=1", "DOTNET_GCConserveMemory=8"}, joint: conserving, want: 8},
		{name: "by the older name", set: []string{"COMPlus_GCConserveMemory=0x3"}, joint: conserving, want: 3},
		{name: "too large", set: []string{"DOTNET_GCConserveMemory=1E"}, want: 9},
		{name: "no number", set: []string{"DOTNET_GCConserveMemory=much"}},
		{name: "not recorded", joint: conserving, lacks: "the value of GCConserveMemory"},
		{name: "by DATAS", process: adapts, joint: conserving, want: 5},
		{name: "with DATAS", process: adapts, set: []string{"DOTNET_GCConserveMemory=1"}, joint: conserving, want: 1},
	} {
		if tt.set != nil {
			tt.process.Limits = &gc.Limits{Settings: tt.set}
		}
		c := &gc.Collection{Process: &tt.process, Number: 1, Generation: gc.Some(2), Joint: tt.joint}
		var l BudgetLearner
		l.Add(c)
		limits := l.Limits(&tt.process)
		if limits.Conserve != tt.want {
			t.Errorf("%s: GCConserveMemory is %v, want %v", tt.name, limits.Conserve, tt.want)
		}
		for g := range generations {
			want := ""
			if g >= gen2 {
				want = tt.lacks
			}
			if lacks := NewRecomputer(limits).lacks(keep(c), g, &inputs{}); lacks != want {
				t.Errorf("%s: gen %d lacks %q, want %q", tt.name, g, lacks, want)
			}
		}
	}
}
