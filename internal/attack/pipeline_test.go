package attack

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// patience limits the time for reading a small input, to detect endless loops.
const patience = time.Minute

// An outcome is the result of reading an input.
type outcome struct {
	refused     error // the input is not a trace, or ends with an error
	panicked    string
	impossible  []string
	collections int
	share       gc.Opt[float64] // of the process with most collections
	reportsLoss bool            // loss or damage
}

// An input is an opened trace, as report reads it.
type input struct {
	trace.Source
	in    *open.Input
	shown func(*gc.Collection)
}

func (i input) Name() string          { return i.in.Name }
func (i input) Paths() []string       { return []string{i.in.Name} }
func (i input) Merged() *trace.Merged { return nil }
func (i input) Beside() string        { return "" }

func (i input) Collections(m *gc.Model, models ...pass.Model) iter.Seq2[*gc.Collection, error] {
	m.Ahead = func() (trace.Source, error) {
		in, err := i.in.Reopen()
		if err != nil {
			return nil, err
		}
		return in.Source, nil
	}
	return func(yield func(*gc.Collection, error) bool) {
		for c, err := range m.Collections(i.Source, models...) {
			if c != nil {
				i.shown(c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// A watched source calls seen after each event.
type watched struct {
	trace.Source
	seen func()
}

func (w watched) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range w.Source.Events() {
			if !yield(ev, err) {
				return
			}
			w.seen()
		}
	}
}

// read reads a trace that is in a file, from end to end, and calls seen after each
// event.
func read(path string, seen func()) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o.panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	in, err := open.File(path, report.Options())
	if err != nil {
		return outcome{refused: err}
	}
	defer in.Close()
	of := make(map[*gc.Process]*stats.Summary)
	details := report.NewDetails(new(selection.Selection), in.Source.Info())
	rep, err := report.Gather(input{watched{in.Source, seen}, in, func(c *gc.Collection) {
		o.collections++
		if of[c.Process] == nil {
			of[c.Process] = new(stats.Summary)
		}
		of[c.Process].Add(c)
		o.check(c)
	}}, new(selection.Selection), report.Budget{}, details)
	if err != nil {
		o.refused = err
		return o
	}
	var out bytes.Buffer
	page := text.PageOn(text.Terminal{Width: 100})
	rep.Write(page)
	if err := rep.WriteJSON(&out); err != nil {
		o.impossible = append(o.impossible, err.Error())
	}
	loss := in.Source.Loss()
	o.reportsLoss = loss.Events > 0 || loss.Damaged > 0 || loss.Truncated || loss.Late > 0 || len(loss.Ranges()) > 0
	most := 0
	for _, p := range of {
		if n := p.All().Count; n > most {
			most, o.share = n, p.PauseShare()
		}
	}
	return o
}

// maxSize is more than any heap has, or any trace allocates.
const maxSize = 1 << 50

// check looks for figures that no collection has.
func (o *outcome) check(c *gc.Collection) {
	wrong := func(format string, args ...any) {
		o.impossible = append(o.impossible, fmt.Sprintf("collection %d: "+format, append([]any{c.Number}, args...)...))
	}
	for name, d := range map[string]gc.Opt[time.Duration]{
		"duration": c.Duration(), "pause": c.Pause(), "suspend": c.Suspend(), "since last": c.SinceLast,
	} {
		if d.Or(0) < 0 || d.Or(0) > trace.MaxTime {
			wrong("%s %v", name, d.Or(0))
		}
	}
	for name, n := range map[string]gc.Opt[int64]{
		"heap before": c.HeapBefore, "heap after": c.HeapAfter, "peak": c.HeapPeak, "promoted": c.Promoted,
		"freed": c.Freed, "allocated": c.Allocated, "ticks": c.AllocatedTicks,
	} {
		if n.Or(0) < 0 || n.Or(0) > maxSize {
			wrong("%s %d", name, n.Or(0))
		}
	}
	for i := range c.Pauses {
		if p := &c.Pauses[i]; p.Duration < 0 || p.Suspend.Or(0) < 0 || p.Restart.Or(0) < 0 {
			wrong("pause %+v", *p)
		}
	}
	for i := range c.Generations {
		if s := c.Generations[i].Survival; s.Or(0) < 0 || s.Or(0) > 100 || math.IsNaN(s.Or(0)) {
			wrong("survival %v %% of %s", s.Or(0), c.Generations[i].Name)
		}
	}
}

// readWithin reads a trace of the given bytes. It fails the test if that does not end in
// time.
func readWithin(tb testing.TB, dir string, data []byte) outcome {
	tb.Helper()
	path := filepath.Join(dir, "trace")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	done := make(chan outcome, 1)
	go func() { done <- read(path, func() {}) }()
	select {
	case o := <-done:
		return o
	case <-time.After(patience):
		tb.Fatalf("does not end: %s", keep(tb, data))
		return outcome{}
	}
}

// keep writes an input that is to be looked into to a file.
func keep(tb testing.TB, data []byte) string {
	tb.Helper()
	f, err := os.CreateTemp(os.Getenv("GCTRAIL_KEEP"), "attack-*")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		tb.Fatal(err)
	}
	return f.Name()
}
