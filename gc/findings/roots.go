package findings

import (
	"fmt"

	"github.com/gctrail/gctrail/clr"
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
		id: "R51", title: "many objects wait for their finalizers", kind: cause, minor: true,
		threshold: "in three GCs or more, and a quarter of all, 1,000 dead objects or more were kept alive for their finalizers",
		source:    "mem-doc, on finalizers; the thresholds are own",
		find:      finalizers,
		advice: []advice{
			{
				text: "Dispose these objects, and call GC.SuppressFinalize in Dispose: an object with a finalizer survives one more GC, with everything it refers to.",
				next: []Step{{Action: ListFinalizers, Purpose: "see what is finalized", Events: []string{"FinalizeObject"}}},
			},
			{
				when: "the trace does not name the types of finalized objects", fits: finalizedUnnamed,
				next: []Step{{Action: Record, Purpose: "record what is finalized, by type", Recording: Finalizers, Events: []string{"FinalizeObject", "BulkType"}}},
			},
		},
	},
}

func finalizedUnnamed(j *judgement, _ *Finding) bool { return !j.Details.NamesFinalized() }

func handlesGrow(j *judgement) (Finding, bool) {
	t := &j.trends[handles]
	first, last, ok := t.grows()
	if !ok || last-first < manyHandles {
		return Finding{}, false
	}
	marking := j.marking[clr.RootTypeHandles].duration + j.marking[clr.RootTypeDependentHandles].duration
	share := j.explains(marking)
	f := Finding{
		Severity: max(Warning, j.costs(share)), Confidence: Medium, weight: share,
		Description: fmt.Sprintf("The number of GC handles rose from %s to %s over %s; marking from them took %s of the pauses.",
			units.Count(first), units.Count(last), gcs(t.count), units.Percent(share)),
		Evidence: []Figure{{"handles_first", float64(first)}, {"handles_last", float64(last)}, {"mark_handles_pct_of_pause", share}},
	}
	f.quoteHandles(&j.Details)
	return f, true
}

func finalizers(j *judgement) (Finding, bool) {
	t := &j.tallies[manyFinalizers]
	if t.count < several || of(t.count, j.all.Count) < largeShare/2 {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: Medium, weight: j.explains(t.pause),
		Description: fmt.Sprintf("In %s of %s, %s dead objects or more were kept alive for their finalizers.",
			units.Count(t.count), gcs(j.all.Count), units.Count(finalizedObjects)),
		Evidence: []Figure{{"gcs_with_many_finalizers", float64(t.count)}},
	}
	if j.hurts() {
		f.Severity = Warning
	}
	j.quote(&f, t)
	f.quoteFinalized(&j.Details)
	return f, true
}
