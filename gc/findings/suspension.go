package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

var suspensionRules = []rule{
	{
		id: "R10", title: "threads are slow to suspend", kind: cause, minor: true,
		threshold: "three suspensions of 10 ms or more, not counting the time they waited for another suspension; or suspensions of 1 ms on average that make up a quarter of the pauses",
		source:    "mem-doc: normal is way below 1 ms, tens of milliseconds are a definite problem",
		find:      slowToSuspend,
		advice: append([]advice{{
			when: "most of what made gen 2 GCs run are arrays in the LOH", fits: clearsLargeArrays,
			text: "Try reusing large arrays with ArrayPool<T>: a thread that clears the memory of a new large array is suspended only when it has finished. To verify, compare suspend_ms.",
		}}, byShortage(
			"Solve the shortage of processors first: a thread that waits for one does not reach its safe point.",
			"Find the thread that does not reach a safe point: a loop without calls, a copy of much memory, or page faults. Processors were not short in this trace. CPU samples during a suspension show it.",
			"Find the thread that does not reach a safe point: a loop without calls, a copy of much memory, page faults, or no processor to run on. This trace does not show which.",
			recordProcessors,
		)...),
	},
}

func slowToSuspend(j *judgement) (Finding, bool) {
	slow := &j.tallies[slowSuspensions]
	suspended := j.all.Suspend.Opt().Or(0) - j.waited
	mean := suspended / time.Duration(max(1, j.all.Pause.Count()))
	share := j.explains(suspended)
	often := mean >= normalSuspension && share >= largeShare/2
	if slow.count < several && !often {
		return Finding{}, false
	}
	f := Finding{
		Severity: max(j.costs(share), warningIf(slow.count >= several && j.long.count > 0)), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("Suspending the threads took %s of %s paused, %s per GC on average; well below %s is normal.",
			units.Duration(suspended), units.Duration(j.all.Pause.Sum()), units.Duration(mean), units.Duration(normalSuspension)),
		Evidence: []Figure{
			{"suspensions_over_10_ms", float64(slow.count)},
			{"suspend_ms", millis(suspended)},
			{"suspend_mean_ms", millis(mean)},
			{"suspend_pct_of_pause", share},
		},
		Next: []Step{{
			Action: ListCollections, Purpose: "see the suspensions",
			Figures: []string{"number", "start_ms", "generation", "kind", "suspend_ms", "pause_ms"},
		}},
	}
	if slow.count > 0 {
		f.Description += fmt.Sprintf(" %s took %s or more.", units.Count(slow.count), units.Duration(slowSuspension))
		f.quotes = slow
	}
	return f, true
}

// clearsLargeArrays reports whether the LOH, and not the POH, made most gen 2 GCs run, and
// nothing shows a shortage of processors.
func clearsLargeArrays(j *judgement, f *Finding) bool {
	return of(j.tallies[forLargeObjects].count, j.tallies[full].count) >= largeShare && j.large[0] > j.large[1] && !starved(j, f)
}
