package whatif

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/units"
)

// A Set is a setting with a value.
type Set struct {
	Name  string // as in GCgen0size
	Value units.Setting
}

// An effect is what a setting does to a program.
type effect struct {
	cannotTell  string  // why its effect is not determined
	note        string  // that the runtime caps or ignores the value
	least, most float64 // the new budget of gen 0 of all heaps together; 0 for no change
	limit       float64 // of the committed memory; 0 for none
}

// rules has the settings whose effect is asked for, as gcconfig.h names them.
var rules = []struct {
	name string
	of   func(*Program, units.Setting) effect
}{
	{"GCgen0size", gen0Size},
	{"GCGen0MaxBudget", gen0MaxBudget},
	{"GCLOHThreshold", lohThreshold},
	{"GCConserveMemory", conserveMemory},
	{"GCHeapCount", heapCount},
	{"GCDynamicAdaptationMode", adaptation},
	{"gcConcurrent", concurrent},
	{"GCHeapHardLimit", hardLimit},
	{"gcServer", server},
}

// Names returns the names of the settings that a Set may have.
func Names() []string {
	names := make([]string, len(rules))
	for i := range rules {
		names[i] = rules[i].name
	}
	return names
}

// ParseSet reads a setting: "GCgen0size=64M". It may have the prefix of an environment variable.
// Case is ignored, as on Windows.
func ParseSet(s string) (Set, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return Set{}, fmt.Errorf("%q is no setting with a value, as GCgen0size=64M is", s)
	}
	for _, prefix := range []string{"DOTNET_", "COMPlus_"} {
		name = strings.TrimPrefix(strings.TrimSpace(name), prefix)
	}
	i := slices.IndexFunc(Names(), func(n string) bool { return strings.EqualFold(n, name) })
	if i < 0 {
		return Set{}, fmt.Errorf("unknown setting %q; valid settings: %s", name, strings.Join(Names(), ", "))
	}
	v, err := units.ParseSetting(value)
	return Set{Names()[i], v}, err
}

// gen0Size follows get_gen0_min_size and init_static_data (init.cpp, dynamic_tuning.cpp).
func gen0Size(p *Program, v units.Setting) effect {
	value := float64(v.Value)
	usual, _, largest := p.budget()
	switch s := p.Process.Settings; {
	case value < 64<<10:
		return effect{note: "GCgen0size below 64 KiB is ignored"}
	case usual == 0:
		return effect{cannotTell: noBudgets}
	case s != nil && s.HardLimit > 0:
		return effect{cannotTell: "a heap hard limit caps gen 0's budget by the size of a segment, which no event has"}
	case s != nil && s.Gen0MaxBudgetConfig > 0 && value > float64(s.Gen0MaxBudgetConfig):
		return p.young0(float64(s.Gen0MaxBudgetConfig), largest, "GCGen0MaxBudget caps it: "+units.Bytes(int64(s.Gen0MaxBudgetConfig)))
	case !p.server() && value > 128*mib:
		return p.young0(128*mib, largest, "workstation GC caps it: 128 MiB, half of a segment")
	}
	return p.young0(value, largest, "")
}

const noBudgets = "the trace has no histories of collections (GCPerHeapHistory), and so no budgets"

// young0 returns the effect of another least budget of gen 0 on each heap.
func (p *Program) young0(least, largest float64, note string) effect {
	least *= float64(p.heaps)
	e := effect{note: note, least: least, most: max(least, p.grown(least, largest))}
	if p.Process.Adaptation.Known() {
		e.note = strings.TrimPrefix(note+"; DATAS takes it as the least budget, and may give more", "; ")
	}
	return e
}

// mostGrowth is the largest factor by which gen 0's budget exceeds what survived of it: 20, and
// 40 with server GC (static_data_table in dynamic_tuning.cpp).
const mostGrowth = 40

// grown returns how large survivors may make gen 0's budget where the least is smaller than
// that: concurrent workstation GC gives 6 MiB at most, or the least.
func (p *Program) grown(least, largest float64) float64 {
	if !p.grows() {
		return min(6*mib, mostGrowth*float64(p.survivors))
	}
	return min(max(largest, 2*least), max(2*least, mostGrowth*float64(p.survivors)))
}

// grows reports whether survivors make gen 0's budget grow above 6 MiB: concurrent workstation
// GC gives it no more, unless that is the least.
func (p *Program) grows() bool { return p.server() || !p.Process.Concurrent.Or(true) }

func gen0MaxBudget(p *Program, v units.Setting) effect {
	usual, least, largest := p.budget()
	value := float64(v.Value) * float64(p.heaps)
	switch {
	case v.Value == 0:
		return effect{note: "GCGen0MaxBudget=0 stands for no value"}
	case usual == 0:
		return effect{cannotTell: noBudgets}
	case p.major() > 0 && p.major() < 5:
		return effect{note: "runtimes before .NET 5 ignore GCGen0MaxBudget"}
	case value >= largest && p.grows():
		return effect{note: "GCGen0MaxBudget is not below any budget in the trace", least: least, most: max(largest, min(value, 2*largest))}
	case value >= largest:
		return effect{least: largest, most: max(largest, min(value, 40*float64(p.survivors)))}
	}
	return effect{least: min(value, least), most: value}
}

func lohThreshold(p *Program, v units.Setting) effect {
	now := uint64(85_000)
	if s := p.Process.Settings; s != nil && s.LOHThreshold > 0 {
		now = s.LOHThreshold
	}
	switch {
	case v.Value < 85_000:
		return effect{note: "GCLOHThreshold below 85,000 bytes is ignored"}
	case v.Value == now:
		return effect{note: "GCLOHThreshold has this value already"}
	}
	return effect{cannotTell: "how many objects are between the thresholds of the LOH: the events of collections have no sizes of objects"}
}

func conserveMemory(*Program, units.Setting) effect {
	return effect{cannotTell: "which blocking gen 2 GCs would compact with GCConserveMemory: that depends on where free space is"}
}

func heapCount(p *Program, v units.Setting) effect {
	switch {
	case !p.server():
		return effect{note: "workstation GC ignores GCHeapCount"}
	case int64(v.Value) == int64(p.heaps) && !p.Process.Adaptation.Known():
		return effect{note: "server GC has this number of heaps already"}
	}
	return effect{cannotTell: "how threads and their objects would be divided among another number of heaps"}
}

func adaptation(p *Program, v units.Setting) effect {
	switch {
	case !p.server():
		return effect{note: "workstation GC ignores GCDynamicAdaptationMode"}
	case p.major() > 0 && p.major() < 8:
		return effect{note: "runtimes before .NET 8 ignore GCDynamicAdaptationMode"}
	case (v.Value != 0) == p.Process.Adaptation.Known():
		return effect{note: "GCDynamicAdaptationMode has this value already, as far as the events show"}
	}
	return effect{cannotTell: "how many heaps DATAS would use, or the program without it"}
}

func concurrent(p *Program, v units.Setting) effect {
	if on, known := p.Process.Concurrent.Get(); known && on == (v.Value != 0) {
		return effect{note: "gcConcurrent has this value already"}
	}
	if s := p.Process.Settings; s != nil && (s.BitSettings&clr.GCSettingsBitsConcurrent != 0) == (v.Value != 0) {
		return effect{note: "gcConcurrent has this value already"}
	}
	if !p.full && v.Value == 0 {
		return effect{cannotTell: "what gen 0's budget would be without background GC: without it, survivors make it grow"}
	}
	return effect{cannotTell: "how long blocking GCs of gen 2 would take in place of background GCs, or the other way round"}
}

func hardLimit(p *Program, v units.Setting) effect {
	limit := float64(v.Value)
	switch {
	case v.Value == 0:
		return effect{note: "GCHeapHardLimit=0 stands for no limit"}
	case limit < float64(p.live):
		return effect{limit: limit, cannotTell: "whether the program would run: up to " + units.Bytes(p.live) + " were left after collections, more than the limit"}
	}
	return effect{limit: limit, cannotTell: "how often the limit would make the runtime collect: it also divides the heap's range otherwise"}
}

func server(p *Program, v units.Setting) effect {
	if p.server() == (v.Value != 0) {
		return effect{note: "gcServer has this value already"}
	}
	return effect{cannotTell: "server GC against workstation GC: the number of heaps, their budgets and the processors' time differ"}
}
