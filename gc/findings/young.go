package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/units"
)

var youngRules = []rule{
	{
		id: "R32", title: "too many young objects survive", kind: generic,
		threshold: "over 20 % of gen 0's objects survive, in three GCs or more, and induced GCs are not half of all",
		source:    "own, after mem-doc: most objects die young; survivors make GCs long",
		find:      youngSurvive,
		advice: []advice{
			{text: "Shorten object lifetimes: look for caches, large batches, and requests that hold data while they wait. Each survivor is copied, often twice, on its way to gen 2."},
		},
	},
	{
		id: "R29", title: "gen 0 GCs dominate the pauses, and little survives them", kind: generic,
		threshold: "gen 0 GCs take half of the pauses or more and less than 10 ms on average, less than 5 % of gen 0's objects survive, and neither suspension, one kind of root nor one phase takes half of the pauses",
		source:    "mem-doc: the allocation rate determines how many GCs there are",
		find:      frequentYoung,
		advice: []advice{
			{text: "Allocate less, or give gen 0 a larger budget. To verify, compare the number of gen 0 GCs a second.", settings: []*setting{&gen0Size}},
			{when: "a workstation GC on four processors or more", fits: func(j *judgement, _ *Finding) bool { return j.Trace.CPUs >= manyCPUs }, text: "Or try server GC, and compare pauses and memory.", settings: []*setting{&serverGC}},
		},
	},
	{
		id: "R31", title: "the program allocates fast", kind: generic,
		threshold: "500 MB a second or more are allocated",
		source:    "own, after mem-doc: the allocation rate determines how many GCs there are",
		find:      allocatesFast,
		advice:    allocationAdvice("the types that are allocated most."),
	},
}

// timeUnclear is for GCs that take long although little survives them.
const timeUnclear = "Little survives these GCs, so find out what they spend their time on: marking from old objects or handles, or waiting for processors that other programs use."

var listYoung = Step{
	Action: ListCollections, Purpose: "see where their time goes", Generation: gc.Some(0),
	Figures: []string{"number", "start_ms", "pause_ms", "suspend_ms", "promoted_bytes", "gc_handles"},
}

func youngSurvive(j *judgement) (Finding, bool) {
	s := j.Summary.Survival(0)
	survived := s.Percent()
	if s.Collections < several || !survived.Known() || survived.Or(0) <= highSurvival ||
		2*(j.tallies[collects].count+j.tallies[unforced].count) > j.all.Count {
		return Finding{}, false // an induced GC comes too early to judge by
	}
	share := j.young()
	if j.mostlyTooSmall() { // survivors fill a small gen 2, so that its GCs replace gen 1 GCs
		share = min(100, share+j.explains(j.tallies[fullTooSmall].pause))
	}
	return Finding{
		Severity: j.costs(share), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("%s of gen 0's objects survived (%s in %s); below %d %% is usual.",
			units.Percent(survived.Or(0)), units.Bytes(s.Survived), gcs(s.Collections), highSurvival),
		Evidence: []Figure{{"gen0_survival_pct", survived.Or(0)}, {"gen0_survived_bytes", float64(s.Survived)}},
	}, true
}

// young returns the share of the pauses due to collections of generations 0 and 1,
// in percent.
func (j *judgement) young() float64 {
	return j.explains(j.Summary.Generation(0).Pause.Sum() + j.Summary.Generation(1).Pause.Sum())
}

func frequentYoung(j *judgement) (Finding, bool) {
	survived, gen0 := j.Summary.Survival(0).Percent(), j.Summary.Generation(0)
	share := j.explains(gen0.Pause.Sum())
	mean := gen0.Pause.Mean()
	if j.share < j.budget.Share || !survived.Known() || survived.Or(0) >= lowSurvival || share < largeShare || mean >= longOnAverage || j.oneThing() {
		return Finding{}, false // long ones cost by their length
	}
	rate := float64(gen0.Count) / j.Summary.Watched().Seconds()
	f := Finding{
		Severity: j.costs(share), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("%s in %s took %s each on average, and only %s of gen 0's objects survived.",
			plural(gen0.Count, "gen 0 GC"), units.Duration(j.Summary.Watched()), units.Duration(mean), units.Percent(survived.Or(0))),
		Evidence: []Figure{{"gen0_per_second", rate}, {"gen0_pause_mean_ms", millis(mean)}, {"gen0_survival_pct", survived.Or(0)}},
	}
	f.quoteTypes(&j.Details, alloc.Small)
	return f, true
}

// oneThing reports whether suspension, one kind of root or one phase takes half of the
// pauses. That explains them, however often GCs run.
func (j *judgement) oneThing() bool {
	if _, share := j.heaviest(); share >= largeShare {
		return true
	}
	_, share := j.heaviestPart()
	return share >= largeShare
}

func allocatesFast(j *judgement) (Finding, bool) {
	rate, allocated := j.Summary.AllocationRate(), j.Summary.Allocated()
	if !rate.Known() || rate.PerSecond < fastAlloc*1_000_000 {
		return Finding{}, false
	}
	f := Finding{
		Severity: min(Warning, j.costs(100)), Confidence: High,
		Description: upper(fmt.Sprintf("%s were allocated (%s).", atLeast(allocated), perSecond(rate))),
		Evidence: []Figure{
			{"allocated_bytes", float64(allocated.Sum)}, {"allocated_bytes_per_s", rate.PerSecond},
		},
	}
	if len(j.Details.Types) > 0 {
		f.quoteTypes(&j.Details, j.Details.Types[0].Heap)
	}
	return f, true
}
