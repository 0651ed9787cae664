package findings

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/gc/stats"
)

// A rule looks for one thing. Findings of one severity come in the rules' order:
// what hurts first, then its causes, then memory, then the trace itself.
type rule struct {
	id    string
	title string
	kind  ruleKind
	find  func(*Case) (Finding, bool) // sets all but ID and Title
}

type ruleKind uint8

const (
	cause   ruleKind = iota // of pauses, or of their number
	symptom                 // that a cause explains
	memory                  // costs memory rather than time
	quality                 // of the trace
)

var rules = [...]rule{
	{"R02", "pauses take much of the time", symptom, pauseShare},
	{"R03", "single pauses are long", symptom, longSinglePauses},

	{"R10", "threads are slow to stop", cause, slowToStop},
	{"R21", "the program itself asks for collections", cause, inducedByProgram},
	{"R22", "memory is nearly full", cause, memoryNearlyFull},
	{"R20", "full collections that stop all threads are common", cause, fullAndBlocking},
	{"R24", "large objects cause full collections", cause, largeObjects},
	{"R32", "many young objects survive", cause, youngSurvive},
	{"R29", "young collections are frequent and find little alive", cause, frequentYoung},
	{"R31", "the program allocates fast", cause, allocatesFast},
	{"R44", "many objects are pinned", cause, pinning},
	{"R11", "some pauses are long for no reason inside the collector", cause, oddPauses},
	{"R63", "the other kind of collector may fit better", cause, otherFlavour},
	{"R70", "the number of heaps keeps changing", cause, heapsChange},

	{"R28", "what survives full collections keeps growing", memory, liveGrows},
	{"R50", "handles keep growing", memory, handlesGrow},
	{"R51", "many objects wait for their finalizers", memory, finalizers},
	{"R41", "much of generation 2 is free space", memory, holedOld},
	{"R40", "much of the heap is free space among pinned young objects", memory, holedYoung},
	{"R30", "the heap swells far between collections", memory, swells},
	{"R60", "much more memory is held than the heap takes", memory, heldBack},

	{"R80", "tracing itself costs pauses", quality, tracingCosts},
	{"R83", "events were lost", quality, eventsLost},
}

// Findings are what the rules find, those that matter most first. Where none of
// them is worse than a note, the first finding says that the collector is
// innocent.
func (c *Case) Findings() []Finding {
	var found []Finding
	for i := range rules {
		f, ok := rules[i].find(c)
		if !ok {
			continue
		}
		f.ID, f.Title = rules[i].id, rules[i].title
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	if c.innocent(found) {
		found = slices.Insert(found, 0, c.innocence())
	}
	return found
}

// innocent says whether nothing that was found speaks against the collector.
func (c *Case) innocent(found []Finding) bool {
	if c.all().Count == 0 || c.touched() {
		return false
	}
	return !slices.ContainsFunc(found, func(f Finding) bool {
		return f.Severity > Note && kindOf(f.ID) != quality
	})
}

func kindOf(id string) ruleKind {
	i := slices.IndexFunc(rules[:], func(r rule) bool { return r.id == id })
	if i < 0 {
		return quality
	}
	return rules[i].kind
}

// touched says whether loss touches so many collections that shares are not to
// be relied on.
func (c *Case) touched() bool {
	all := c.all()
	return 100*all.Affected > touchedShare*all.Count
}

// hurts says whether pauses cost the program something.
func (c *Case) hurts() bool {
	return c.share() >= notablePauseShare || c.tallies[longPauses].count > 0
}

// costs is the severity of a cause: none matters where pauses do not hurt.
func (c *Case) costs() Severity {
	switch {
	case c.share() >= highPauseShare:
		return Problem
	case c.hurts():
		return Warning
	default:
		return Note
	}
}

func (c *Case) all() *stats.Totals { return c.Process.All() }

// share is the pauses' part of the time in percent, zero where unknown.
func (c *Case) share() float64 { return c.Process.PauseShare().V }

// quote names the collections of a tally.
func (f *Finding) quote(t *tally) {
	f.Collections, f.Shown = t.numbers(), t.count
}
