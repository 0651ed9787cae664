// Package openmetrics writes collections as OpenMetrics text with timestamps, for
// promtool tsdb create-blocks-from openmetrics: the counters and gauges of .NET's
// own metrics (dotnet.gc.…), and a histogram of pauses.
//
// Names follow OpenTelemetry's semantic conventions for .NET, as Prometheus spells
// them; see prometheus.io/docs/specs/om/open_metrics_spec.
package openmetrics

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/timeline"
	"github.com/gctrail/gctrail/trace"
)

// maxPoints bounds the points of a process. Where there are more, every second one
// goes, and points are twice as far apart from then on.
const maxPoints = 8192

// A Writer collects points of each process, one for each second, and writes them when
// it is closed. Beyond 8,192 points of a process their distance doubles.
type Writer struct {
	out       io.Writer
	start     time.Time
	processes []*process
	byProcess map[gc.Identity]*process
}

// NewWriter returns a Writer to w. Start is the wall-clock time of the trace's start.
func NewWriter(w io.Writer, start time.Time) *Writer {
	return &Writer{out: w, start: start, byProcess: make(map[gc.Identity]*process)}
}

// Add adds a collection. Collections must come in order of their start.
func (w *Writer) Add(c *gc.Collection) error {
	p := w.byProcess[c.Process.Identity()]
	if p == nil {
		p = &process{of: c.Process, every: time.Second, series: make(map[id]*series)}
		w.byProcess[c.Process.Identity()] = p
		w.processes = append(w.processes, p)
	}
	p.add(c)
	return nil
}

// Close writes all families. It does not close the underlying writer.
func (w *Writer) Close() error {
	out := bufio.NewWriter(w.out)
	for i := range families {
		f := &families[i]
		fmt.Fprintf(out, "# TYPE %s %s\n", f.name, f.typ)
		if f.unit != "" {
			fmt.Fprintf(out, "# UNIT %s %s\n", f.name, f.unit)
		}
		fmt.Fprintf(out, "# HELP %s %s\n", f.name, f.help)
		for _, p := range w.processes {
			p.setProcessorTime()
			p.write(out, f, w.start)
		}
	}
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}

// A family is a metric.
type family struct {
	name, typ, unit, help string
}

// The families, in the order in which they are written.
const (
	collections = iota
	pauseTime
	allocated
	heapSize
	fragmentation
	committed
	pauseDuration
	gcTime
	runTime
)

var families = [...]family{
	collections:   {"dotnet_gc_collections", "counter", "", "Collections since the trace began, by the generation collected."},
	pauseTime:     {"dotnet_gc_pause_time_seconds", "counter", "seconds", "Time paused in GC since the trace began."},
	allocated:     {"dotnet_gc_heap_total_allocated_bytes", "counter", "bytes", "Bytes allocated since the trace began, up to the start of the latest collection; at least, where a collection does not show all."},
	heapSize:      {"dotnet_gc_last_collection_heap_size_bytes", "gauge", "bytes", "Heap size after the latest collection that measured it, with free space."},
	fragmentation: {"dotnet_gc_last_collection_heap_fragmentation_size_bytes", "gauge", "bytes", "Free space after the latest collection that measured it."},
	committed:     {"dotnet_gc_last_collection_memory_committed_size_bytes", "gauge", "bytes", "Memory committed for the heap at the latest collection."},
	pauseDuration: {"dotnet_gc_pause_duration_seconds", "histogram", "seconds", "Length of GC pauses, by the generation collected and the kind of collection."},
	gcTime:        {"gctrail_gc_cpu_seconds", "counter", "seconds", "Time for which threads of the process ran that only collect garbage, since the first reading: what the GC used at least, and nearly all with server GC. Of a trace of Windows' kernel, all that its CPU samples or context switches show at least of the GC."},
	runTime:       {"gctrail_process_cpu_run_time_seconds", "counter", "seconds", "Time for which threads of the process ran, since the first reading, or by the CPU samples or context switches of Windows' kernel."},
}

// bounds are the upper bounds of the histogram's buckets, in seconds.
var bounds = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// PauseBounds returns the upper bounds of the buckets of pauses, in seconds.
func PauseBounds() []float64 { return slices.Clone(bounds[:]) }

// An id names a series of a process.
type id struct {
	family int
	suffix string // "_total", "_bucket", …
	labels string // without the process's
}

// A series has the values at the process's points. A gauge that is not known from
// the first point on begins later; what is counted begins at zero.
type series struct {
	value  float64
	first  int // of the points
	values []float64
}

// A process has its series at some points of time.
type process struct {
	of     *gc.Process
	every  time.Duration
	points []time.Duration
	order  []id
	series map[id]*series
}

func (p *process) get(k id) *series {
	s := p.series[k]
	if s == nil {
		s = new(series)
		if families[k.family].typ == "gauge" {
			s.first = len(p.points)
		} else {
			s.values = make([]float64, len(p.points))
		}
		p.series[k] = s
		p.order = append(p.order, k)
	}
	return s
}

func (p *process) count(family int, labels string, v float64) {
	p.get(id{family, "_total", labels}).value += v
}

func (p *process) set(family int, labels string, v gc.Opt[int64]) {
	if bytes, known := v.Get(); known {
		p.get(id{family, "", labels}).value = float64(bytes)
	}
}

// add counts a collection, and takes a point if it is time for one.
func (p *process) add(c *gc.Collection) {
	at := c.End.Or(c.Start.Or(-1))
	if at < 0 {
		return
	}
	if n := len(p.points); n > 0 && at >= p.points[n-1]+p.every {
		p.take(at)
	} else if n == 0 {
		p.take(max(0, c.Process.Started))
	}
	generation := "unknown"
	if g, known := c.Generation.Get(); known {
		generation = "gen" + strconv.Itoa(g)
	}
	p.count(collections, label("dotnet_gc_heap_generation", generation), 1)
	for i := range c.Pauses {
		p.pause(generation, c.Kind, c.Pauses[i].Duration.Seconds())
	}
	if v, known := c.Allocated.Get(); known {
		p.count(allocated, "", float64(v))
	}
	for i := range c.Generations {
		g := &c.Generations[i]
		of := label("dotnet_gc_heap_generation", g.Name)
		p.set(heapSize, of, g.After)
		p.set(fragmentation, of, g.Fragmentation)
	}
	p.set(committed, "", c.CommittedAfter)
	p.setProcessorTime()
}

// setProcessorTime sets the counters of processor time that the trace has.
func (p *process) setProcessorTime() {
	if t, known := p.of.Processor.GC.Get(); known {
		p.get(id{gcTime, "_total", ""}).value = t.Least().Seconds()
		p.get(id{runTime, "_total", ""}).value = p.of.Processor.Run.Seconds()
	} else if t, known := p.of.GCTime().Get(); known { // at the end only, for all of the trace
		for family, d := range map[int]time.Duration{gcTime: t.Least, runTime: t.Run} {
			p.atEnd(id{family, "_total", ""}).value = d.Seconds()
		}
	}
}

// atEnd returns a series without points before the end, because its value is of all of the trace.
func (p *process) atEnd(k id) *series {
	s := p.get(k)
	s.first, s.values = len(p.points), nil
	return s
}

func (p *process) pause(generation string, kind gc.Kind, seconds float64) {
	p.count(pauseTime, "", seconds)
	of := label("dotnet_gc_heap_generation", generation) + "," + label("gc_kind", kind.String())
	for i := range len(bounds) + 1 {
		bound := "+Inf"
		if i < len(bounds) {
			bound = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		bucket := p.get(id{pauseDuration, "_bucket", of + "," + label("le", bound)})
		if i == len(bounds) || seconds <= bounds[i] {
			bucket.value++
		}
	}
	p.get(id{pauseDuration, "_count", of}).value++
	p.get(id{pauseDuration, "_sum", of}).value += seconds
}

// take keeps the values as they are.
func (p *process) take(at time.Duration) {
	if len(p.points) == maxPoints {
		p.thin()
	}
	p.points = append(p.points, at)
	for _, s := range p.series {
		s.values = append(s.values, s.value)
	}
}

// thin drops every second point.
func (p *process) thin() {
	p.every *= 2
	for _, s := range p.series {
		of := s.values[min(s.first%2, len(s.values)):] // from the first one that stays
		s.values, s.first = timeline.Halve(of, func(_, _ *float64) {}), (s.first+1)/2
	}
	p.points = timeline.Halve(p.points, func(_, _ *time.Duration) {})
}

// write writes the series of a family, each with its points in time order and
// the last values at the end.
func (p *process) write(out *bufio.Writer, f *family, start time.Time) {
	who := p.labels()
	last := p.of.Stopped
	if n := len(p.points); n > 0 {
		last = max(last, p.points[n-1]+time.Millisecond)
	}
	for _, k := range p.ordered() {
		if &families[k.family] != f {
			continue
		}
		s := p.series[k]
		name := f.name + k.suffix + "{" + who
		if k.labels != "" {
			name += "," + k.labels
		}
		name += "} "
		for i, v := range s.values {
			writePoint(out, name, v, start.Add(p.points[s.first+i]))
		}
		writePoint(out, name, s.value, start.Add(last))
	}
}

// ordered returns the series by family; the series of a histogram stay together by their
// labels.
func (p *process) ordered() []id {
	order := slices.Clone(p.order)
	slices.SortStableFunc(order, func(a, b id) int { return a.family - b.family })
	return order
}

func writePoint(out *bufio.Writer, name string, v float64, at time.Time) {
	fmt.Fprintf(out, "%s%s %d.%03d\n", name, strconv.FormatFloat(v, 'f', -1, 64), at.Unix(), at.Nanosecond()/1e6)
}

func (p *process) labels() string {
	all := []string{label("process", export.Name(p.of))}
	if p.of.PID != trace.UnknownID {
		all = append(all, label("pid", strconv.FormatUint(p.of.PID, 10)))
	}
	if p.of.Runtime != "" {
		all = append(all, label("runtime", export.Clean(p.of.Runtime)))
	}
	return strings.Join(all, ",")
}

// label is name="value", escaped.
func label(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}
