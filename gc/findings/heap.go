package findings

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/internal/units"
)

// Snapshots sums up the heap snapshots of a process.
type Snapshots struct {
	Last  *heap.Snapshot // nil for none
	Count int
	Live  gc.Opt[int64] // bytes in the last one that are alive
	// Keepers are the types whose objects retain most in the last one, or that have most
	// bytes if that is unknown.
	Keepers  []heap.Group
	Suspects []heap.Suspect // of the growth from the first to the last
}

// NewSnapshots returns the sum of the heap snapshots of a process, in their order.
func NewSnapshots(all []*heap.Snapshot) Snapshots {
	if len(all) == 0 {
		return Snapshots{}
	}
	s := Snapshots{Last: all[len(all)-1], Count: len(all), Suspects: heap.Suspects(all)}
	var tree *heap.Dominators
	if s.Last.Graph != nil {
		tree = s.Last.Graph.Dominators()
		s.Live = gc.Some(tree.LiveBytes())
	}
	s.Keepers = s.Last.Groups(heap.Query{By: heap.ByType}, tree)
	s.Keepers = append([]heap.Group(nil), s.Keepers[:min(quotedKeepers, len(s.Keepers))]...)
	return s
}

// quotedKeepers is how many types a finding names, and quotedSuspects how many suspects.
const quotedKeepers, quotedSuspects = 3, 2

var listObjects = Step{Action: ListObjects, Purpose: "see the objects, and what holds them"}

// unconfirmed reports whether a third snapshot would show if the growth goes on.
func unconfirmed(j *judgement, _ *Finding) bool {
	return j.Details.Snapshots.Suspects[0].Snapshots == 2
}

var heapRules = []rule{
	{
		id: "R48", title: "what grew between heap snapshots hangs on few objects", kind: aside, anyLength: true,
		threshold: "2 % of what is alive in the last heap snapshot grew since the first one, and a tenth of that or more hangs on one object, or on objects of one type, that grew from each snapshot to the next and at last by half of its mean growth; a warning from three snapshots on",
		source:    "own, after the leak suspects of Eclipse MAT",
		find:      snapshotsGrow,
		advice: []advice{
			{text: "Find what adds objects there, and remove each when it is no longer needed: unsubscribe, dispose, or bound the collection. Then take snapshots again: this growth should be gone.", next: []Step{listObjects}},
			{when: "two snapshots", fits: unconfirmed, text: "Take another snapshot: two do not show whether it still grows.", next: []Step{takeSnapshots}},
		},
	},
	{
		id: "R47", title: "the trace has a heap snapshot", kind: aside, anyLength: true,
		threshold: "the trace has the objects of the heap after a GC",
		source:    "own",
		find:      snapshotTaken,
		advice:    []advice{{text: "See which types fill the heap, and what holds them.", next: []Step{listObjects}}},
	},
}

var takeSnapshots = Step{Action: TakeSnapshots, Purpose: "take heap snapshots a minute apart, which show what grows"}

func snapshotsGrow(j *judgement) (Finding, bool) {
	s := &j.Details.Snapshots
	if len(s.Suspects) == 0 {
		return Finding{}, false
	}
	most := &s.Suspects[0]
	f := Finding{
		Severity: Note, Confidence: Medium,
		Evidence: []Figure{{"snapshots", float64(most.Snapshots)}, {"grew_bytes", float64(most.Grew)}, {"retained_bytes", float64(most.Retained)}, {"growth_pct", 100 * min(most.Share, 1)}},
	}
	if most.Confidence() == High.String() {
		f.Severity, f.Confidence = Warning, High
	}
	var says []string
	for i := range s.Suspects[:min(len(s.Suspects), quotedSuspects)] {
		says = append(says, s.Suspects[i].String()+".")
	}
	if more := len(s.Suspects) - len(says); more > 0 {
		says = append(says, fmt.Sprintf("%s more.", plural(more, "suspect")))
	}
	f.Description = strings.Join(says, " ")
	return f, true
}

func snapshotTaken(j *judgement) (Finding, bool) {
	s := &j.Details.Snapshots
	if s.Last == nil {
		return Finding{}, false
	}
	f := Finding{
		Severity: Note, Confidence: High,
		Description: fmt.Sprintf("After %s, the heap had %s%s of %s", s.Last.Label(), s.Last.About(), plural(int(s.Last.Objects), "object"), units.Bytes(s.Last.Bytes)),
		Evidence:    []Figure{{"snapshots", float64(s.Count)}, {"objects", float64(s.Last.Objects)}, {"object_bytes", float64(s.Last.Bytes)}},
	}
	kept := "Most bytes are of"
	if !s.Last.Missing.Whole() {
		kept = "Of the objects that arrived, most bytes are of"
	}
	if live, known := s.Live.Get(); known {
		f.Evidence = append(f.Evidence, Figure{"live_bytes", float64(live)})
		f.Description += fmt.Sprintf(", %s of them alive", units.Bytes(live))
		kept = "The largest types by retained bytes are"
	}
	var keepers []string
	for i := range s.Keepers {
		k := &s.Keepers[i]
		keepers = append(keepers, fmt.Sprintf("%s (%s)", program.Inert(k.Type.String()), units.Bytes(k.Retained.Or(k.Bytes.Or(0)))))
	}
	f.Description += fmt.Sprintf(". %s %s.", kept, strings.Join(keepers, ", "))
	if !s.Last.Missing.Whole() {
		f.Confidence = Medium
	}
	return f, true
}
