package findings

import (
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

var phaseRules = []rule{
	{
		id: "R55", title: "one phase takes most of the pauses", kind: generic,
		threshold: "planning, relocating, compacting, sweeping, or work outside the phases that the runtime times takes half of the pauses or more, even without the two GCs that spent most on it; relocating counts unless one kind of root explains it (R54)",
		source:    "GCGlobalHeapHistory version 4, from .NET 6 on (gcpriv.h, etw_gc_time_info)",
		find:      heavyPhase,
		advice: []advice{
			{
				when: "planning", fits: mainly(stats.Planning),
				text: "Try fewer and larger objects: planning walks through the generations that are collected, past dead objects too.",
			},
			{
				when: "relocating or compacting", fits: mainly(stats.Relocating, stats.Compacting),
				text: "Try to shorten object lifetimes: survivors are moved, and every reference to them is updated.",
			},
			{
				when: "sweeping", fits: mainly(stats.Sweeping),
				text: "Look at the free space of gen 2: sweeping builds its free list from the gaps between survivors.",
			},
			{
				when: "outside the timed phases", fits: mainly(stats.Outside),
				text: "Check whether the heap grows and shrinks, and whether GC threads wait for processors: committing and freeing memory and that waiting are outside these phases.",
			},
		},
	},
}

// heaviestPart returns the part with the largest usual share of the pauses, among
// suspension and the phases after marking.
func (j *judgement) heaviestPart() (heaviest stats.Part, share float64) {
	for _, part := range []stats.Part{stats.Suspending, stats.Planning, stats.Relocating, stats.Compacting, stats.Sweeping, stats.Outside} {
		if s := j.parts[part].Usual(); s > share {
			heaviest, share = part, s
		}
	}
	return heaviest, share
}

// partSays explains the parts that R55 names.
var partSays = map[stats.Part]string{
	stats.Planning: "planning, which finds what survives and where it goes", stats.Relocating: "relocating, which updates references to objects that move",
	stats.Compacting: "compacting, which moves the survivors", stats.Sweeping: "sweeping, which builds lists of free space",
	stats.Outside: "work outside the timed phases: waiting for GC threads, freeing memory, restarting threads",
}

// mainly returns a condition of advice: the heaviest part of the pauses is one of parts.
func mainly(parts ...stats.Part) func(*judgement, *Finding) bool {
	return func(j *judgement, _ *Finding) bool {
		heaviest, _ := j.heaviestPart()
		return slices.Contains(parts, heaviest)
	}
}

func heavyPhase(j *judgement) (Finding, bool) {
	part, share := j.heaviestPart()
	spent := &j.parts[part]
	if share < largeShare || spent.Count < several || part == stats.Suspending {
		return Finding{}, false
	}
	if _, roots := j.heaviest(); part == stats.Relocating && roots >= largeShare/2 {
		return Finding{}, false
	}
	title := part.String() + " takes most of the pauses"
	if part == stats.Outside {
		title = "most of the pause time is outside the phases that the runtime times"
	}
	return Finding{
		Title:    title,
		Severity: min(Warning, j.costs(share)), Confidence: High, weight: share,
		Description: fmt.Sprintf("%s (%s) of the pause time went to %s.", units.Duration(spent.Sum), units.Percent(spent.Share()), partSays[part]),
		Evidence:    []Figure{{"phase_ms", millis(spent.Sum)}, {"phase_pct_of_pause", spent.Share()}},
	}, true
}
