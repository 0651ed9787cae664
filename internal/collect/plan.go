package collect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/selection"
)

// The default time to retain around a trigger. The minute before explains a pause that
// happens once a day, and its consequences show in a few seconds.
const (
	defaultBefore = 60 * time.Second
	defaultAfter  = 10 * time.Second
	defaultKeep   = 1_000_000_000
	// longestCollection is how much further back than requested the ring reaches, because
	// the time before a trigger counts from the collection's start, not its end.
	longestCollection = 60 * time.Second
)

// MinKeep is the least size of a ring, which must hold some of the runtime's blocks.
const MinKeep = 1_000_000

// A Stop holds the user's settings for the end of a trace, and for how much of it to
// retain.
type Stop struct {
	Until         *selection.Condition // nil for none
	Event         *StoppingEvent       // nil for none
	Before, After *time.Duration       // nil for the default
	Keep          Limits               // zero for the default
	Files         int
}

// A Plan determines when traces end, and how much of them to retain. Captures do not
// change it.
type Plan struct {
	Until  *selection.Condition // nil for none
	Event  *StoppingEvent       // nil for none
	Before time.Duration        // 0 for all that the ring holds
	After  time.Duration
	Ring   bool
	Keep   Limits
	Files  int
	// DumpAtStart and DumpAtEnd are when heap snapshots are taken.
	DumpAtStart, DumpAtEnd bool
}

// Plan returns the user's settings, with defaults for the rest.
func (s *Stop) Plan() *Plan {
	limited := s.Keep != Limits{}
	p := &Plan{
		Until: s.Until, Event: s.Event, Files: s.Files,
		Keep: Limits{Time: s.Keep.Time, Size: cmp.Or(s.Keep.Size, defaultKeep)},
		Ring: s.Until != nil || limited || s.Before != nil,
	}
	switch {
	case s.Before != nil:
		p.Before = *s.Before
	case s.Until != nil && !limited:
		p.Before = defaultBefore
	}
	switch {
	case s.After != nil:
		p.After = *s.After
	case s.Until != nil:
		p.After = defaultAfter
	}
	if p.Before > 0 {
		p.Keep.Time = p.Before
	} else {
		p.Before = p.Keep.Time
	}
	if p.Waits() && p.Keep.Time > 0 {
		p.Keep.Time += longestCollection
	}
	return p
}

// Waits reports whether a condition or an event ends the trace.
func (p *Plan) Waits() bool { return p.Until != nil || p.Event != nil }

// awaitsRequests reports whether a request ends the trace.
func (p *Plan) awaitsRequests() bool { return p.Until != nil && p.Until.OfRequests() }

// Dumps reports whether heap snapshots are taken.
func (p *Plan) Dumps() bool { return p.DumpAtStart || p.DumpAtEnd }

// numbered returns the path of the nth file of several.
func numbered(path string, nth, of int) string {
	if of <= 1 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(path, ext), len(strconv.Itoa(of)), nth, ext)
}

// met returns the trigger for a collection that met the condition.
func met(c *gc.Collection) *Trigger {
	t := &Trigger{From: c.Start.Or(0), To: c.End.Or(0), Collection: c}
	if c.PauseStart.Known() && (!c.Start.Known() || c.PauseStart.Or(0) < t.From) {
		t.From = c.PauseStart.Or(0)
	}
	if !c.Start.Known() && !c.PauseStart.Known() {
		t.From = c.End.Or(0)
	}
	return t
}
