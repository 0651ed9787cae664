package findings

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// A rule looks for one thing. Findings of one severity come in the order of
// ruleKind, causes by what they explain, else in the order of the rules.
type rule struct {
	id    string
	title string
	kind  ruleKind
	minor bool                        // told even where pauses do not hurt
	find  func(*Case) (Finding, bool) // sets all but ID and Title
}

type ruleKind uint8

const (
	symptom ruleKind = iota // that a cause explains
	cause                   // of pauses, or of their number
	aside                   // costs memory, or time that no collection takes
	quality                 // of the trace
)

var rules = [...]rule{
	{id: "R02", title: "pauses take much of the time", kind: symptom, find: pauseShare},
	{id: "R05", title: "pauses take much of some stretches of time", kind: symptom, find: stretches},
	{id: "R03", title: "single pauses are long", kind: symptom, find: longSinglePauses},

	{id: "R10", title: "threads are slow to stop", kind: cause, minor: true, find: slowToStop},
	{id: "R21", title: "the program itself asks for collections", kind: cause, minor: true, find: inducedByProgram},
	{id: "R22", title: "memory is nearly full", kind: cause, minor: true, find: memoryNearlyFull},
	{id: "R20", title: "full collections that stop all threads are common", kind: cause, find: fullAndBlocking},
	{id: "R43", title: "full collections run to close holes in generation 2", kind: cause, find: fullForHoles},
	{id: "R24", title: "large objects cause full collections", kind: cause, find: largeObjects},
	{id: "R32", title: "many young objects survive", kind: cause, find: youngSurvive},
	{id: "R29", title: "young collections are frequent and find little alive", kind: cause, find: frequentYoung},
	{id: "R31", title: "the program allocates fast", kind: cause, find: allocatesFast},
	{id: "R54", title: "marking from one kind of root takes much of the pauses", kind: cause, find: longMark},
	{id: "R44", title: "many objects are pinned", kind: cause, find: pinning},
	{id: "R11", title: "some pauses are long for no reason inside the collector", kind: cause, find: oddPauses},
	{id: "R63", title: "the other kind of collector may fit better", kind: cause, find: otherFlavour},
	{id: "R70", title: "the number of heaps keeps changing", kind: cause, find: heapsChange},

	{id: "R14", title: "threads also stand still for other reasons", kind: aside, find: otherStops},
	{id: "R28", title: "what survives full collections keeps growing", kind: aside, find: liveGrows},
	{id: "R50", title: "handles keep growing", kind: aside, find: handlesGrow},
	{id: "R51", title: "many objects wait for their finalizers", kind: aside, find: finalizers},
	{id: "R41", title: "much of generation 2 is free space", kind: aside, find: holedOld},
	{id: "R40", title: "much of the heap is free space among pinned young objects", kind: aside, find: holedYoung},
	{id: "R30", title: "the heap swells far between collections", kind: aside, find: swells},
	{id: "R60", title: "much more memory is held than the heap takes", kind: aside, find: heldBack},

	{id: "R80", title: "tracing itself costs pauses", kind: quality, find: tracingCosts},
	{id: "R83", title: "events were lost", kind: quality, find: eventsLost},
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
		if r := &rules[i]; r.kind == cause && !r.minor && !c.hurts() {
			continue
		}
		f.ID, f.Title = rules[i].id, rules[i].title
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(kindOf(a.ID), kindOf(b.ID)), cmp.Compare(b.weight, a.weight))
	})
	if c.innocent(found) {
		found = slices.Insert(found, 0, c.innocence())
	}
	return found
}

// innocent says whether nothing that was found speaks against the collector.
func (c *Case) innocent(found []Finding) bool {
	if c.all().Pause.Count() == 0 || c.touched() {
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
	return (c.Trace.Lost > 0 || c.Trace.Damaged > 0) && 100*all.Affected > touchedShare*all.Count
}

// hurts says whether pauses cost the program something.
func (c *Case) hurts() bool {
	worst := c.worstStretch()
	return c.share() >= notablePauseShare || c.tallies[longPauses].count > 0 || worst.Share() >= highPauseShare
}

// costs is the severity of a cause that explains so many percent of the pauses:
// none matters where pauses do not hurt.
func (c *Case) costs(explains float64) Severity {
	switch {
	case explains < someShare:
		return Note
	case explains < largeShare/2 && c.hurts():
		return Warning
	case c.share() >= highPauseShare:
		return Problem
	case c.hurts():
		return Warning
	default:
		return Note
	}
}

func (c *Case) all() *stats.Totals { return c.Process.All() }

// PauseShare is the part of the time in which threads stood still, in percent. It
// is unknown where lost events leave it in doubt.
func (c *Case) PauseShare() gc.Opt[float64] {
	if c.touched() {
		return gc.Opt[float64]{}
	}
	return c.Process.PauseShare()
}

// share is the pauses' part of the time in percent, at least; zero where
// unknown.
func (c *Case) share() float64 { return c.Process.PauseShare().V }

// quote names the collections of a tally.
func (f *Finding) quote(t *tally) {
	f.Collections, f.Shown = t.numbers(), t.count
}
