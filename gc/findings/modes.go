package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

var modeRules = []rule{
	{
		id: "R57", title: "the latency mode holds back gen 2 GCs, or background GCs", kind: cause, minor: true,
		threshold: "three GCs or more, and half of those whose mode is known, ran in the latency mode LowLatency or SustainedLowLatency; or in Batch, with three blocking gen 2 GCs or more that are not induced, although background GC is not known to be off",
		source:    "docs of GCSettings.LatencyMode; gc.cpp, generation_to_condemn: LowLatency condemns gen 1 at most unless memory is low, and Batch never runs in the background",
		find:      latencyMode,
		advice: []advice{
			{
				when: "LowLatency", fits: inMode(clr.PauseModeLowLatency),
				text: "Set LowLatency only for short sections where a pause would do harm, and SustainedLowLatency or Interactive, the default, otherwise. To verify, check that gen 2 GCs run and that the heap stops growing.",
			},
			{
				when: "Batch", fits: inMode(clr.PauseModeBatch),
				text: "Try GCSettings.LatencyMode = Interactive, the default: background GCs then collect gen 2 while threads run. Compare the longest pause and the work done.",
			},
			{
				when: "SustainedLowLatency", fits: inMode(clr.PauseModeSustainedLowLatency),
				text: "Try Interactive, the default, if memory matters: SustainedLowLatency avoids the blocking GCs that compact gen 2.",
			},
		},
	},
	{
		id: "R58", title: "no-GC regions cost pauses", kind: cause, minor: true,
		threshold: "GC.TryStartNoGCRegion was called three times or more, or its GCs and those that follow its regions are a tenth of the pauses",
		source:    "gc.cpp, garbage_collect and prepare_for_no_gc_region: a region that needs no collection takes a number and suspends the threads; GCGlobalHeapHistory has PauseMode NoGC where it needs one",
		find:      noGCRegions,
		advice:    []advice{{text: "Try fewer or smaller no-GC regions: each start suspends all threads, and the GC after a region has to collect everything that was allocated in it."}},
	},
}

// modes counts collections by their latency mode.
type modes struct {
	count, full [clr.PauseModeNoGC + 1]int // full ones are of gen2
	known       int
}

func (m *modes) add(c *gc.Collection) {
	mode, known := c.PauseMode.Get()
	if !known || int(mode) >= len(m.count) {
		return
	}
	m.known++
	m.count[mode]++
	if isFull(c) {
		m.full[mode]++
	}
}

// usual returns the latency mode of half of the collections or more.
func (m *modes) usual() (mode clr.PauseMode, ok bool) {
	for mode, n := range m.count {
		if n >= several && 2*n >= m.known {
			return clr.PauseMode(mode), true
		}
	}
	return 0, false
}

// usuallyIn reports whether half of the collections or more had a latency mode.
func (j *judgement) usuallyIn(mode clr.PauseMode) bool {
	usual, ok := j.modes.usual()
	return ok && usual == mode
}

func inMode(mode clr.PauseMode) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool { return j.usuallyIn(mode) }
}

// batched reports whether the latency mode Batch keeps gen 2 from being collected in the
// background. It checks the setting too, because Batch is also the mode of a process with
// background GC switched off.
func (j *judgement) batched() bool {
	return j.usuallyIn(clr.PauseModeBatch) && !j.concurrentOff()
}

func latencyMode(j *judgement) (Finding, bool) {
	mode, ok := j.modes.usual()
	if !ok {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("%s of %s ran in the latency mode %v", units.Count(j.modes.count[mode]), gcs(j.all.Count), mode),
		Evidence:    []Figure{{"gcs_in_mode", float64(j.modes.count[mode])}, {"full_in_mode", float64(j.modes.full[mode])}},
	}
	switch mode {
	case clr.PauseModeLowLatency:
		f.Title = "the latency mode LowLatency puts off gen 2 GCs"
		f.Description += fmt.Sprintf(" (GCSettings.LatencyMode), which puts off gen 2 GCs unless memory is low: %s ran.", plural(j.tallies[full].count, "gen 2 GC"))
		if first, last, grows := j.trends[heapAfter].grows(); grows && last-first >= someBytes {
			f.Severity = Warning
			f.Description += fmt.Sprintf(" The heap grew from %s to %s; how much of it is in use is unknown until gen 2 is collected.", units.Bytes(first), units.Bytes(last))
			f.Evidence = append(f.Evidence, Figure{"heap_first_bytes", float64(first)}, Figure{"heap_last_bytes", float64(last)})
		}
	case clr.PauseModeBatch:
		return j.batch(f)
	case clr.PauseModeSustainedLowLatency:
		f.Title = "the latency mode SustainedLowLatency avoids blocking gen 2 GCs"
		f.Description += fmt.Sprintf(" (GCSettings.LatencyMode), which avoids blocking gen 2 GCs unless memory is low: %s ran, %s of them blocking.",
			plural(j.tallies[full].count, "gen 2 GC"), units.Count(j.tallies[fullBlocking].count))
	default:
		return Finding{}, false
	}
	return f, true
}

// batch judges the latency mode Batch by the gen 2 GCs that had to block for it.
func (j *judgement) batch(f Finding) (Finding, bool) {
	t := &j.tallies[fullUninduced]
	if t.count < several || j.concurrentOff() {
		return Finding{}, false
	}
	f.Title = "the latency mode Batch keeps gen 2 from being collected in the background"
	f.weight = j.explains(t.pause)
	f.Severity = j.costs(f.weight)
	set := "GCSettings.LatencyMode, or background GC is off"
	if j.Summary.Process.Concurrent.Or(false) {
		set = "GCSettings.LatencyMode; background GC itself is on"
	}
	f.Description += fmt.Sprintf(" (%s), which never collects gen 2 in the background: %s were blocking, %s of the pause time.",
		set, plural(t.count, "gen 2 GC"), units.Percent(f.weight))
	f.quotes = t
	return f, true
}

// noGC sums up the cost of no-GC regions.
type noGC struct {
	needed, following tally // collections that regions needed, and the first after regions
	regions           int   // that began without a collection
	largest           int64 // gen0 before one of following
}

func (n *noGC) add(c *gc.Collection, retain int) {
	n.regions += c.NoGCRegions
	switch {
	case stats.ForNoGC(c):
		n.needed.add(c, retain)
	case c.NoGCRegions > 0:
		n.following.add(c, retain)
		if g := generation(c, 0); g != nil {
			n.largest = max(n.largest, g.Before)
		}
	}
}

func noGCRegions(j *judgement) (Finding, bool) {
	n := &j.noGC
	started := max(n.regions, j.Summary.Process.NoGC.Regions) + n.needed.count
	cost := n.needed.pause + n.following.pause
	share := j.explains(cost)
	if started == 0 || started < several && share < someShare {
		return Finding{}, false
	}
	least := ""
	if j.Summary.Process.NoGC.Perhaps > 0 {
		least = "at least "
	}
	f := Finding{
		Severity: j.costs(share), Confidence: High, weight: share,
		Description: fmt.Sprintf("GC.TryStartNoGCRegion started %s%s.", least, plural(started, "no-GC region")),
		Evidence:    []Figure{{"no_gc_regions", float64(started)}, {"no_gc_pause_ms", millis(cost)}, {"no_gc_pause_pct", share}},
	}
	if n.needed.count > 0 {
		f.Description += fmt.Sprintf(" %s ran to find memory for them, in pauses of %s.", gcs(n.needed.count), units.Duration(n.needed.pause))
	}
	if d := j.Summary.Process.NoGC.Suspended; d > 0 {
		f.Description += fmt.Sprintf(" Starting the others suspended the threads for %s.", units.Duration(d))
	}
	if n.following.count > 0 {
		f.Description += fmt.Sprintf(" %s after such regions paused %s", gcs(n.following.count), units.Duration(n.following.pause))
		if n.largest > 0 {
			f.Description += fmt.Sprintf(", with up to %s in gen 0 before", units.Bytes(n.largest))
		}
		f.Description += "."
		f.quotes = &n.following
	} else {
		f.quotes = &n.needed
	}
	return f, true
}
