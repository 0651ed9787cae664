package trial

import (
	"math"
	"slices"
)

// A Unit is the unit of a metric's values.
type Unit string

// The units of metrics.
const (
	PerSecond    Unit = "1/s"
	Milliseconds Unit = "ms"
	Seconds      Unit = "s"
	Percent      Unit = "%"
	Bytes        Unit = "bytes"
)

// A Metric is a figure of a run by which settings are judged.
type Metric struct {
	Name   string // with its unit, as in JSON
	Text   string // in words
	Short  string // heading of a column
	Unit   Unit
	Higher bool // more of it is better

	band    float64 // relative change that is too small to matter
	floor   float64 // the same in the metric's unit
	weight  float64 // in the sum of gains and costs
	decides bool    // it can make a setting win
}

// The metrics, as indices of Metrics.
const (
	Work = iota
	ProcessorPerWork
	Elapsed
	Processor
	Collector
	Paused
	PauseMedian
	PauseTail
	RequestTail
	Memory
	NumMetrics
)

// Names of metrics that the package's users refer to.
const workPerSecond = "work_per_s"

// metrics has the metrics. Time and processor time are counted once: for each unit of work
// where the work is known, and otherwise for the run.
var metrics = [NumMetrics]Metric{
	Work:             {Name: workPerSecond, Text: "work", Short: "work/s", Unit: PerSecond, Higher: true, band: 0.03, weight: 1, decides: true},
	ProcessorPerWork: {Name: "cpu_per_work_ms", Text: "processor time per unit of work", Short: "CPU ms/work", Unit: Milliseconds, band: 0.03, weight: 1, decides: true},
	Elapsed:          {Name: "elapsed_s", Text: "time", Short: "time s", Unit: Seconds, band: 0.03, floor: 0.01, weight: 1, decides: true},
	Processor:        {Name: "cpu_s", Text: "processor time", Short: "CPU s", Unit: Seconds, band: 0.03, floor: 0.01, weight: 1, decides: true},
	Collector:        {Name: "gc_cpu_pct", Text: "GC processor time, at least", Short: "GC CPU %", Unit: Percent, band: 0.15, floor: 1},
	Paused:           {Name: "pause_pct", Text: "time paused", Short: "paused %", Unit: Percent, band: 0.10, floor: 0.2, weight: 0.5, decides: true},
	PauseMedian:      {Name: "pause_p50_ms", Text: "median pause", Short: "p50 ms", Unit: Milliseconds, band: 0.10, floor: 0.1},
	PauseTail:        {Name: "pause_p99_ms", Text: "p99 pause", Short: "p99 ms", Unit: Milliseconds, band: 0.20, floor: 0.1, weight: 0.5, decides: true},
	RequestTail:      {Name: "request_p99_ms", Text: "p99 request", Short: "request p99 ms", Unit: Milliseconds, band: 0.10, floor: 0.1, weight: 1, decides: true},
	Memory:           {Name: "peak_memory_bytes", Text: "peak memory", Short: "peak MB", Unit: Bytes, band: 0.05, floor: 2e6, weight: 0.25, decides: true},
}

// Metrics returns the metrics, in the order of a Run's Values.
func Metrics() []Metric { return slices.Clone(metrics[:]) }

// Values has the metrics of one run. NaN is unknown.
type Values [NumMetrics]float64

// Unknown returns the values of a run of which nothing is known.
func Unknown() (v Values) {
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}

// matters returns the least difference from a value that matters.
func (m *Metric) matters(from float64) float64 { return max(m.band*math.Abs(from), m.floor) }

// scaled returns a value on the scale on which settings are compared: its logarithm, because
// a setting changes a figure by a share of it. The floor makes room for zero.
func (m *Metric) scaled(v float64) float64 { return math.Log(v + m.floor) }

func (m *Metric) unscaled(x float64) float64 { return math.Exp(x) - m.floor }
