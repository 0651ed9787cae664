package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

var fullRules = []rule{
	{
		id: "R43", title: "blocking gen 2 GCs run to compact a fragmented gen 2", kind: cause,
		threshold: "three blocking gen 2 GCs or more that are not induced have a condemned reason of fragmentation (max_generation_high_fragmentation and its like), and a tenth of the pauses",
		source:    "gc.cpp, generation_to_condemn: free space of gen 2 that cannot be used is over 200,000 bytes and a quarter of it; init_gc_heap: DATAS sets GCConserveMemory to 5",
		find:      fullForFragmentation,
		advice: []advice{
			{text: "Group objects with similar lifetimes: gen 2 fragments where objects die among others that live on."},
			{
				when: "GCConserveMemory runs them, and DATAS is on", fits: func(j *judgement, f *Finding) bool { return conserves(j, f) && datas(j.Summary.Process) },
				text: "DATAS runs these GCs, because it compacts gen 2 as GCConserveMemory=5 does. Lower that value or switch DATAS off, and compare committed memory before and after.", settings: []*setting{&leastConserve, &noDATAS},
			},
			{
				when: "GCConserveMemory runs them, and DATAS is not known to be on", fits: func(j *judgement, f *Finding) bool { return conserves(j, f) && !datas(j.Summary.Process) },
				text: "Lower GCConserveMemory or remove it, and compare committed memory before and after.",
			},
		},
	},
	{
		id: "R20", title: "blocking gen 2 GCs are common", kind: generic,
		threshold: "three blocking gen 2 GCs or more make up half of all GCs, or of the pauses, and neither a more specific finding explains half of that, nor, in a small gen 2, large objects (R24) or survivors of gen 0 (R32)",
		source:    "mem-doc: a program should not run full blocking GCs all the time",
		find:      fullAndBlocking,
		advice: []advice{
			{when: "background GC is off", fits: func(j *judgement, _ *Finding) bool { return j.concurrentOff() }, text: "Switch background GC on.", settings: []*setting{&concurrentGC}},
			{
				when: "gen 2 is too small for background GCs", fits: func(j *judgement, _ *Finding) bool { return !j.concurrentOff() && j.mostlyTooSmall() },
				text: "Reduce the number of gen 2 GCs: the GC does not collect so small a gen 2 in the background.", next: []Step{listFull},
			},
			{
				when: "otherwise, unless the latency mode is Batch (R57)",
				fits: func(j *judgement, _ *Finding) bool { return !j.concurrentOff() && !j.mostlyTooSmall() && !j.batched() },
				text: "Find out why gen 2 is not collected in the background.", next: []Step{listFull},
			},
		},
	},
}

// conserves reports whether GCConserveMemory runs most of the GCs that compact gen 2. The
// sign is a comparison of the free space of all heaps together, because only that
// setting, or DATAS which sets it to 5, makes the runtime do so. DATAS exists from .NET 8
// on for server GC.
func conserves(j *judgement, _ *Finding) bool {
	return 2*j.tallies[fullConserving].count >= j.tallies[fullFragmented].count
}

func fullForFragmentation(j *judgement) (Finding, bool) {
	t := &j.tallies[fullFragmented]
	share := j.explains(t.pause)
	if t.count < several || share < someShare {
		return Finding{}, false
	}
	f := Finding{
		Severity: j.costs(share), Confidence: High, weight: share, quotes: t,
		Description: fmt.Sprintf("%s of %s were blocking because gen 2 is fragmented: %s of the pause time.",
			units.Count(t.count), plural(j.tallies[full].count, "gen 2 GC"), units.Percent(share)),
		Evidence: []Figure{{"full_for_fragmentation", float64(t.count)}, {"full_for_fragmentation_pause_pct", share}},
		Next:     []Step{listFull},
	}
	if n := j.tallies[fullConserving].count; n > 0 {
		by := "GCConserveMemory, which the program or DATAS sets"
		switch {
		case datas(j.Summary.Process):
			by = "the GCConserveMemory of DATAS, which is 5 by default"
		case !mayAdapt(j.Summary.Process):
			by = "GCConserveMemory, which is set"
		}
		f.Description += fmt.Sprintf(" %s of them ran because more of gen 2 and the LOH was free space than %s, allows.", units.Count(n), by)
		f.Evidence = append(f.Evidence, Figure{"full_for_conserve_memory", float64(n)})
	}
	return f, true
}

// specificFull returns the pause time of blocking gen2 collections that a more
// specific rule covers.
func (j *judgement) specificFull() time.Duration {
	most := j.noGC.needed.pause
	if j.batched() {
		most = max(most, j.tallies[fullUninduced].pause)
	}
	for _, i := range []int{collects, unforced, beforeOOM, fullFragmented, provisional} {
		most = max(most, j.tallies[i].pause)
	}
	return most
}

func fullAndBlocking(j *judgement) (Finding, bool) {
	t := &j.tallies[fullBlocking]
	byCount, byPause := of(t.count, j.all.Count), j.explains(t.pause)
	if t.count < several || byCount < largeShare && byPause < largeShare || 2*j.specificFull() >= t.pause ||
		j.mostlyTooSmall() && (j.muchSurvives() || 2*j.causes[2][gc.Blocking][clr.GCReasonAllocLarge] >= t.pause) {
		return Finding{}, false
	}
	f := Finding{
		Severity: j.costs(byPause), Confidence: High, weight: byPause, quotes: t,
		Description: fmt.Sprintf("%s of %s were blocking gen 2 GCs: %s of the pause time. Gen 2 is normally collected in the background.",
			units.Count(t.count), gcs(j.all.Count), units.Percent(byPause)),
		Evidence: []Figure{{"full_blocking", float64(t.count)}, {"full_blocking_pct", byCount}, {"full_blocking_pause_pct", byPause}},
	}
	if j.mostlyTooSmall() {
		f.Description += fmt.Sprintf(" For %s of them gen 2 was too small for a background GC (gen2_too_small).", units.Count(j.tallies[fullTooSmall].count))
		f.Severity = min(f.Severity, Warning)
	}
	if j.concurrentOff() {
		f.Description += " Background GC is switched off."
	}
	return f, true
}

// concurrentOff reports whether background GC is known to be switched off.
func (j *judgement) concurrentOff() bool {
	s := j.Summary.Process.Settings
	return s != nil && s.BitSettings&clr.GCSettingsBitsConcurrent == 0
}

// mostlyTooSmall reports whether most blocking gen 2 GCs were blocking because gen 2
// was too small for a background GC.
func (j *judgement) mostlyTooSmall() bool {
	return 2*j.tallies[fullTooSmall].count > j.tallies[fullBlocking].count
}
