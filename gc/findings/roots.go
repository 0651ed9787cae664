package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

var rootRules = []rule{
	{
		id: "R50", title: "GC handles keep growing", kind: cause, minor: true,
		threshold: "the number of handles after a GC grows from each third of the time to the next, by 30 % and 1,000 in total, and does not level off",
		source:    "own; GCHeapStats has the current number at every GC",
		find:      handlesGrow,
		advice: []advice{
			{text: "Find the code that allocates GC handles without freeing them. To verify, check that the number of handles levels off.", next: []Step{listHandles}},
			{when: "the trace does not name the code that allocates handles", fits: handlesUnnamed, next: []Step{recordCreators}},
			{when: "from .NET 9 on, and the trace does not record handles", fits: handlesUnknown, next: []Step{recordHandles}},
		},
	},
	{
		id: "R56", title: "the finalizer thread does not finish", kind: cause, minor: true,
		threshold: "the finalizer thread began to run finalizers a second or more before the latest of three GCs or more that found objects for it, and has not finished",
		source:    "finalizerthread.cpp: GCFinalizersBegin is raised before the first of the finalizers that wait, GCFinalizersEnd after the last",
		find:      unfinishedFinalizers,
		advice: []advice{{
			text: "Find out what the finalizer thread does: look at its stack in a memory dump. A finalizer that waits for a lock, for I/O or for another thread blocks all others, and their objects are never freed.",
			next: []Step{listFinalized},
		}, {
			when: "the trace does not name the types of finalized objects", fits: finalizedUnnamed,
			next: []Step{recordFinalized},
		}},
	},
	{
		id: "R51", title: "many objects wait for their finalizers", kind: cause, minor: true,
		threshold: "in three GCs or more, and a quarter of all, 1,000 dead objects or more were kept alive for their finalizers, and the finalizer thread is not stuck (R56)",
		source:    "mem-doc, on finalizers; the thresholds are own",
		find:      finalizers,
		advice: []advice{
			{
				text: "Dispose these objects, and call GC.SuppressFinalize in Dispose: an object with a finalizer survives one more GC, with everything it refers to.",
				next: []Step{listFinalized},
			},
			{
				when: "the trace does not name the types of finalized objects", fits: finalizedUnnamed,
				next: []Step{recordFinalized},
			},
		},
	},
}

var (
	listFinalized   = Step{Action: ListFinalizers, Purpose: "see what is finalized", Events: []string{"FinalizeObject"}}
	recordFinalized = Step{Action: Record, Purpose: "record what is finalized, by type", Recording: Finalizers, Events: []string{"FinalizeObject", "BulkType"}}
)

// mostlyDependent returns a remark in brackets if dependent handles cost more than others.
func (j *judgement) mostlyDependent() string {
	if dependent := j.burdens[onDependent].marking; dependent > 0 && dependent > j.burdens[onHandles].marking {
		return " (mostly dependent handles: ConditionalWeakTable and what is built on it)"
	}
	return ""
}

// unfinished is the least time that the finalizer thread has to run to count as not
// finishing.
const unfinished = time.Second

// unfinishedRun returns the run of finalizers that does not end.
func (j *judgement) unfinishedRun() (gc.Finalizing, bool) {
	run, known := j.Summary.Process.Finalizing.Get()
	return run, known && run.Found >= several && run.Latest-run.Since >= unfinished
}

func unfinishedFinalizers(j *judgement) (Finding, bool) {
	run, is := j.unfinishedRun()
	if !is {
		return Finding{}, false
	}
	lasts := max(j.Summary.Process.Stopped, run.Latest) - run.Since
	f := Finding{
		Severity: problemIf(j.finalization() >= largeShare && j.hurts()), Confidence: High, weight: j.finalization(),
		Description: fmt.Sprintf("The finalizer thread began to run finalizers at %s and had not finished %s later. Meanwhile GCs found %s for it: either a finalizer is blocked, or finalizers run more slowly than objects need them.",
			units.Duration(run.Since), units.Duration(lasts), plural(int(run.Objects), "object")),
		Evidence: []Figure{{"finalizing_ms", millis(lasts)}, {"objects_found", float64(run.Objects)}},
	}
	f.quoteFinalized(&j.Details)
	return f, true
}

// finalization returns the share of the pauses, in percent, due to objects kept alive for
// finalizers: the share of their bytes among all promoted bytes.
func (j *judgement) finalization() float64 {
	return min(100, of(j.finalized, j.all.Promoted.Sum))
}

func finalizedUnnamed(j *judgement, _ *Finding) bool { return !j.Details.NamesFinalized() }

func handlesGrow(j *judgement) (Finding, bool) {
	t := &j.trends[handles]
	first, last, ok := t.grows()
	if !ok || last-first < manyHandles {
		return Finding{}, false
	}
	share := j.burdens[onHandles].spent.Usual() + j.burdens[onDependent].spent.Usual()
	f := Finding{
		Severity: max(Warning, j.costs(share)), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("The number of GC handles rose from %s to %s over %s; marking from them%s, clearing and updating them took about %s of the pause time.",
			units.Count(first), units.Count(last), gcs(t.seen), j.mostlyDependent(), units.Percent(share)),
		Evidence: []Figure{{"handles_first", float64(first)}, {"handles_last", float64(last)}, {"mark_handles_pct_of_pause", share}},
	}
	f.quoteHandles(&j.Details)
	return f, true
}

func finalizers(j *judgement) (Finding, bool) {
	t := &j.tallies[manyFinalizers]
	if _, blocked := j.unfinishedRun(); blocked || t.count < several || of(t.count, j.all.Count) < largeShare/2 {
		return Finding{}, false // disposed objects need no finalizer, but waiting ones have to be found first
	}
	f := Finding{
		Severity: warningIf(j.hurts()), Confidence: Medium, weight: min(j.explains(t.pause), j.finalization()), quotes: t,
		Description: fmt.Sprintf("In %s of %s, %s dead objects or more were kept alive for their finalizers.",
			units.Count(t.count), gcs(j.all.Count), units.Count(finalizedObjects)),
		Evidence: []Figure{{"gcs_with_many_finalizers", float64(t.count)}},
	}
	f.quoteFinalized(&j.Details)
	return f, true
}
