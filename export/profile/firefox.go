package profile

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/trace"
)

// maxCollections bounds the collections of a profile, because the viewer holds all of
// them in memory.
const maxCollections = 1 << 17

// A Firefox writes collections and allocations as a processed profile for profiler.firefox.com when
// it is closed: markers of pauses, suspensions, collections and findings, counters of the heap, and
// allocation samples with stacks. Times are milliseconds from the start of the trace. See
// docs-developer/processed-profile-format.md of firefox-devtools/profiler.
type Firefox struct {
	out       io.Writer
	start     time.Time
	tables    *tables
	processes []*firefoxProcess
	byProcess map[gc.Identity]*firefoxProcess
	pids      map[string]bool
	last      time.Duration
	path      []frame

	collections int
	// LeftOut counts the collections beyond the bound.
	LeftOut int64
}

// A firefoxProcess has one thread, which carries its markers.
type firefoxProcess struct {
	of       *gc.Process
	index    int
	thread   thread
	counters []*level
}

// A level is a counter of a size.
type level struct {
	counter
	at int64 // the latest value
}

// NewFirefox returns a Firefox that writes to w. Start is the wall-clock time of the trace's start.
func NewFirefox(w io.Writer, start time.Time) *Firefox {
	return &Firefox{
		out: w, start: start, tables: newTables(), byProcess: make(map[gc.Identity]*firefoxProcess), pids: make(map[string]bool),
	}
}

// Add adds a collection. Collections must be added in order of their start.
func (w *Firefox) Add(c *gc.Collection) error {
	if w.collections == maxCollections {
		w.LeftOut++
		return nil
	}
	w.collections++
	p := w.process(c.Process)
	for i := range c.Pauses {
		pause := &c.Pauses[i]
		name := "Pause: " + export.Kind(c)
		if pause.Kind != gc.PauseBlocking {
			name += ", " + pause.Kind.String() + " pause"
		}
		w.interval(p, name, pause.Start, pause.Duration, pauseMarker(c, pause))
		if suspend, known := pause.Suspend.Get(); known && suspend > 0 {
			w.interval(p, "Suspension", pause.Start, suspend, payload("Suspension").number("number", int64(c.Number)))
		}
	}
	start, begun := c.Start.Get()
	if length, known := c.Duration().Get(); known && begun {
		w.interval(p, "GC: "+export.Kind(c), start, length, payload("GC").describe(c))
	}
	w.levels(p, c)
	return nil
}

// Findings adds the findings of a process.
func (w *Firefox) Findings(of *gc.Process, found []findings.Finding) {
	p := w.process(of)
	for i := range found {
		f := &found[i]
		m := payload("Finding").text("says", f.Description)
		var quoted []string
		for _, number := range f.Collections {
			quoted = append(quoted, strconv.FormatUint(uint64(number), 10))
		}
		m.text("collections", strings.Join(quoted, ", "))
		w.marker(p, f.ID+": "+f.Title, of.Started, of.Started, phaseInstant, m)
	}
}

// Allocations adds the allocations of processes, with their times.
func (w *Firefox) Allocations(all []*export.Allocations) {
	for _, a := range all {
		if a.Timeline == nil {
			continue
		}
		table := &allocations{Unit: "bytes", Class: []string{}, Type: []string{}, Coarse: []string{}, Time: []float64{}, Weight: []int64{}, Nursery: []bool{}, Stack: []int{}}
		for row := range a.Timeline {
			w.last = max(w.last, row.Time)
			table.Time = append(table.Time, millis(row.Time))
			table.Class = append(table.Class, export.Clean(cmp.Or(row.Type, "(unknown)")))
			table.Type = append(table.Type, "Object")
			table.Coarse = append(table.Coarse, "Object")
			table.Weight = append(table.Weight, row.Bytes)
			table.Nursery = append(table.Nursery, row.Heap == alloc.Small)
			table.Stack = append(table.Stack, w.tables.stack(export.TypeOn(row.Type, row.Heap), a.StackFrames(row.Stack), &w.path))
			table.Length++
		}
		w.process(a.Process).thread.Allocations = table
	}
}

// levels adds the sizes before and after a collection.
func (w *Firefox) levels(p *firefoxProcess, c *gc.Collection) {
	start, begun := c.Start.Get()
	end, ended := c.End.Get()
	set := func(known bool, at time.Duration, name, color string, v gc.Opt[int64]) {
		if bytes, is := v.Get(); is && known {
			p.level(name, color).set(at, bytes)
		}
	}
	set(begun, start, "Heap", "purple", c.HeapBefore)
	set(begun, start, "Committed", "grey", c.CommittedBefore)
	for i := range c.Generations {
		g := &c.Generations[i]
		set(begun, start, g.Name, "blue", gc.Some(g.Before))
		set(ended, end, g.Name, "blue", g.After)
	}
	set(ended, end, "Heap", "purple", c.HeapAfter)
	set(ended, end, "Committed", "grey", c.CommittedAfter)
	if bytes, known := c.Allocated.Get(); known && begun {
		l := p.level("Allocated", "orange")
		l.Display.Graph, l.Display.Tooltip[0].Source = "line-rate", "count"
		l.at = 0
		l.set(start, bytes)
	}
}

// level returns the counter of a process with a name.
func (p *firefoxProcess) level(name, color string) *level {
	for _, l := range p.counters {
		if l.Name == name {
			return l
		}
	}
	l := &level{counter: counter{
		Name: name, Category: "Memory", Description: name + " of the managed heap, in bytes", PID: p.thread.PID, Thread: p.index,
		Display: display{Graph: "line-accumulated", Unit: "bytes", Color: color, Weight: len(p.counters), Label: name, Tooltip: []tooltipRow{
			{"value", "accumulated", tooltipFormat{"bytes"}, name},
		}},
	}}
	p.counters = append(p.counters, l)
	return l
}

// set sets a counter to a value. Counters record changes.
func (l *level) set(at time.Duration, v int64) {
	s := &l.Samples
	t := millis(at)
	if s.Length > 0 {
		t = max(t, s.Time[s.Length-1])
	}
	s.Time, s.Count = append(s.Time, t), append(s.Count, v-l.at)
	s.Length++
	l.at = v
}

// process returns a process's thread, a new one if it has none.
func (w *Firefox) process(of *gc.Process) *firefoxProcess {
	p := w.byProcess[of.Identity()]
	if p == nil {
		pid := "0"
		if of.PID != trace.UnknownID {
			pid = strconv.FormatUint(of.PID, 10)
		}
		for again := 2; w.pids[pid]; again++ { // the system has used it again
			pid = fmt.Sprintf("%d-%d", of.PID, again)
		}
		w.pids[pid] = true
		p = &firefoxProcess{of: of, index: len(w.processes), thread: thread{
			ProcessType: "default", Paused: []struct{}{}, InTimeline: true, Name: "GC", Main: true, Process: export.Name(of),
			PID: pid, TID: len(w.processes) + 1,
			Markers: markers{[]json.RawMessage{}, []int{}, []float64{}, []float64{}, []int{}, []int{}, 0},
			Samples: noSamples,
		}}
		w.byProcess[of.Identity()] = p
		w.processes = append(w.processes, p)
	}
	return p
}

// Close writes the profile. It does not close the underlying writer.
func (w *Firefox) Close() error {
	out := bufio.NewWriterSize(w.out, 1<<16)
	d := document{out: out}
	d.member("meta", w.meta())
	d.member("libs", []string{})
	d.list("threads", func(each func(any)) {
		for _, p := range w.processes {
			p.thread.Startup, p.thread.Register = millis(p.of.Started), millis(p.of.Started)
			each(&p.thread)
		}
	})
	d.list("counters", func(each func(any)) {
		for _, p := range w.processes {
			for _, l := range p.counters {
				each(&l.counter)
			}
		}
	})
	d.member("shared", &w.tables.shared)
	d.text("}\n")
	if d.err != nil {
		return d.err
	}
	return out.Flush()
}

func (w *Firefox) meta() *meta {
	for _, p := range w.processes {
		w.last = max(w.last, p.of.Stopped)
	}
	return &meta{
		Interval: 1, StartTime: float64(w.start.UnixNano()) / 1e6, End: millis(w.last), Product: "gctrail", From: "gctrail",
		Stackwalk: 1, Version: 24, Processed: firefoxVersion, Symbolized: true, NoSymbols: true, OneStack: true, NotFirefox: true,
		Categories: categories, Schema: schemas(),
	}
}

// millis are milliseconds, never before the start.
func millis(d time.Duration) float64 { return float64(max(0, d)) / 1e6 }
