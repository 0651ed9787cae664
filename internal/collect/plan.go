package collect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/condition"
	"github.com/gctrail/gctrail/internal/tracefile"
)

// What a condition keeps: a pause that happens once a day is explained by the
// minute before it, and what followed is seen in a few seconds.
const (
	defaultBefore = 60 * time.Second
	defaultAfter  = 10 * time.Second
	defaultKeep   = 1_000_000_000
	// longestCollection is how long before the end of a collection the ring reaches
	// further back than is asked for: the time before counts from its start.
	longestCollection = 60 * time.Second
)

// MinKeep is the least size of a ring: some blocks of the runtime's.
const MinKeep = 1_000_000

// A Stop is what ends a trace, and how much of it to retain, as far as the user set it.
type Stop struct {
	Until         *condition.Condition // nil for none
	Event         *StoppingEvent       // nil for none
	Before, After *time.Duration       // nil for the default
	Keep          tracefile.Limits     // zero for the default
	Files         int
}

// A Plan is when traces end, and what to retain of them. Captures do not change it.
type Plan struct {
	Until  *condition.Condition // nil for none
	Event  *StoppingEvent       // nil for none
	Before time.Duration        // 0 for all that the ring holds
	After  time.Duration
	Ring   bool
	Keep   tracefile.Limits
	Files  int
}

// Plan returns what the user set, with defaults for the rest.
func (s *Stop) Plan() *Plan {
	limited := s.Keep != tracefile.Limits{}
	p := &Plan{
		Until: s.Until, Event: s.Event, Files: s.Files,
		Keep: tracefile.Limits{Time: s.Keep.Time, Size: cmp.Or(s.Keep.Size, defaultKeep)},
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

// numbered returns the path of the nth file of several.
func numbered(path string, nth, of int) string {
	if of <= 1 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(path, ext), len(strconv.Itoa(of)), nth, ext)
}

// met returns the trigger that a collection is.
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
