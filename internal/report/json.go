package report

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// Millis is a duration, encoded in milliseconds with all of its nanoseconds.
type Millis = trace.Millis

// WriteJSON writes the report as one line.
func (rep *Report) WriteJSON(out io.Writer) error {
	return jsontext.Encode(out, rep.Document())
}

// WriteBriefJSON writes the report as one line of at most MaxBrief bytes, which
// names what it leaves out.
func (rep *Report) WriteBriefJSON(out io.Writer) error {
	line, err := brief(rep.Document())
	if err != nil {
		return err
	}
	_, err = out.Write(line)
	return err
}

// Document returns the report as values.
func (rep *Report) Document() *Document {
	j := &Document{
		SchemaVersion: schemaVersion,
		File:          rep.Name,
		Format:        rep.info.Format,
		StartTime:     rep.info.Start.Format(time.RFC3339Nano),
		Duration:      Millis(rep.info.Last),
		Processes:     text.Each(rep.cases, func(c *Case) Process { return rep.process(c) }),
		WithoutGC:     rep.withoutGCJSON(),
		Lost:          rep.loss.Lost(),
		Next:          rep.next(),
		NextIfEnded:   filled(rep.nextIfEnded()),
		CannotTell:    []Gap{},
		Omitted:       []string{},
	}
	var worst *Case
	if len(rep.cases) > 0 {
		worst = &rep.cases[0]
		j.Code, j.Verdict = j.Processes[0].Code, j.Processes[0].Verdict
	} else {
		j.Code, j.Verdict = rep.emptyVerdict()
	}
	j.CannotTell = append(j.CannotTell, rep.gaps(worst)...)
	j.Collected.Providers = text.Each(rep.recorded, func(c *findings.Recorded) Provider {
		return Provider{c.Provider, c.Keywords, fmt.Sprintf("0x%x", c.Keywords), c.Level, c.Events}
	})
	return j
}

func (rep *Report) process(c *Case) Process {
	p := c.Summary.Process
	return Process{
		PID: known(p.PID), Name: filled(p.Name), CommandLine: filled(p.CommandLine), Runtime: filled(p.Runtime), Server: p.Server,
		Code: c.Code, Verdict: c.Verdict, Totals: c.totals(), Timeline: c.timeline(), Memory: c.Memory.json(),
		Processors: processorsJSON(p), Percentiles: c.percentilesJSON(), Phases: c.phasesJSON(),
		Findings: text.Each(c.Findings, func(f *findings.Finding) Finding {
			j := findingJSON(f, rep.commands(c, f))
			j.Types = c.typesJSON(f)
			return j
		}),
		Suspensions: text.Each(c.Suspensions(), func(s *gc.SuspensionTotal) Suspension {
			return Suspension{s.Reason.String(), uint32(s.Reason), s.Kind.String(), s.Count, Millis(s.Total), Millis(s.Max)}
		}),
		Longest: text.Each(c.Summary.Longest, longPause),
		Omitted: Omitted{Pauses: c.Summary.All().Pause.Count() - len(c.Summary.Longest)},
	}
}

func longPause(of **gc.Collection) LongPause {
	c := *of
	return LongPause{
		c.Number, c.Generation, c.Kind.String(), reasonOf(c.Reason), millis(c.PauseStart),
		millis(c.Pause()), millis(c.Suspend()), c.Promoted, c.AffectedByLoss,
	}
}

func (c *Case) totals() ProcessTotals {
	all, h := c.Summary.All(), c.Summary.Heap
	j := ProcessTotals{
		Totals: totalsJSON(all), Watched: Millis(c.Summary.Watched()),
		PausePct:   finite(c.PauseShare()),
		Incomplete: all.Incomplete, Affected: all.Affected, Induced: all.Induced,
		Generations: []GenerationTotals{}, Kinds: []KindTotals{},
		Reasons: text.Each(c.Summary.Reasons(), func(r *stats.Reason) ReasonTotals {
			code, known := r.Reason.Get()
			t := totalsJSON(r.Totals)
			return ReasonTotals{reasonOf(r.Reason), gc.SomeIf(uint32(code), known), r.Count, t.Pause, t.PauseMax}
		}),
		Worst: text.Each(c.Summary.Suspended(), func(s *stats.Stall) WorstWindow {
			return WorstWindow{Millis(s.Window), Millis(s.From), Millis(s.Pause), Millis(s.Other), s.Share(), s.MutatorUtilization()}
		}),
		Heap: HeapSizes{
			PeakBytes: h.Peak, AfterBytes: h.After, CommittedBytes: h.Committed, CommittedMaxBytes: h.MaxCommitted,
			LoadMaxPct: h.MaxLoad, HeapsMin: positive(h.MinHeaps), HeapsMax: positive(h.MaxHeaps),
		},
	}
	j.useAllocated(&c.Summary)
	j.pauseIs, j.freedIs, j.promotedIs, j.doubtful = c.pauseIs(), all.Freed.Certainty(), all.Promoted.Certainty(), all.Doubtful
	j.missing = c.Summary.Process.Missing
	j.Suspend = millis(all.Suspend.Opt())
	for n := range 3 {
		if t := c.Summary.Generation(n); t.Count > 0 {
			j.Generations = append(j.Generations, GenerationTotals{n, totalsJSON(t)})
		}
	}
	for k := gc.KindUnknown; k <= gc.Foreground; k++ {
		if t := c.Summary.Kind(k); t.Count > 0 {
			j.Kinds = append(j.Kinds, KindTotals{k.String(), totalsJSON(t)})
		}
	}
	return j
}

// useAllocated replaces the bytes counted by collections by all bytes that the process
// allocated.
func (j *ProcessTotals) useAllocated(of *stats.Summary) {
	sum, rate := of.Allocated(), of.AllocationRate()
	j.AllocatedBytes, j.AllocatedIs = bytesJSON(sum)
	j.AllocatedMaxBytes = sum.Max()
	j.allocatedIs, j.rateIs = sum.Certainty(), rate.Certainty
	if rate.Known() {
		j.AllocatedPerSecond, j.RateIs = finite(gc.Some(rate.PerSecond)), filled(rate.Certainty.String())
	}
}

func totalsJSON(t *stats.Totals) Totals {
	j := Totals{Count: t.Count}
	if t.Pause.Count() > 0 {
		j.Pause, j.PauseMax = gc.Some(Millis(t.Pause.Sum())), gc.Some(Millis(t.Pause.Max()))
		percentile := func(percent float64) gc.Opt[Millis] { return gc.Some(Millis(t.Pause.Percentile(percent))) }
		j.PauseP50, j.PauseP90, j.PauseP99 = percentile(50), percentile(90), percentile(99)
	}
	j.AllocatedBytes, j.AllocatedIs = bytesJSON(t.Allocated)
	j.FreedBytes, j.FreedIs = bytesJSON(t.Freed)
	j.PromotedBytes, _ = bytesJSON(t.Promoted)
	return j
}

func bytesJSON(b stats.Bytes) (sum gc.Opt[int64], is gc.Opt[string]) {
	if c := b.Certainty(); c != gc.Uncertain {
		return gc.Some(b.Holding().Sum), filled(c.String())
	}
	return sum, is
}

func reasonOf(o gc.Opt[clr.GCReason]) gc.Opt[string] {
	r, known := o.Get()
	return gc.SomeIf(r.String(), known)
}

func (c *Case) timeline() *Timeline {
	t := &c.Summary.Timeline
	return &Timeline{
		Millis(t.Origin), Millis(t.Width()),
		text.Each(t.Buckets, func(b *stats.Bucket) int { return b.Collections }),
		text.Each(t.Buckets, func(b *stats.Bucket) Millis { return Millis(b.Pause) }),
		text.Each(t.Buckets, func(b *stats.Bucket) gc.Opt[int64] { return b.HeapAfter }),
		text.Each(t.Buckets, func(b *stats.Bucket) gc.Opt[int64] { return b.Committed }),
	}
}

func findingJSON(f *findings.Finding, next []Step) Finding {
	j := Finding{
		ID: f.ID, Title: f.Title, Severity: f.Severity.String(), Confidence: f.Confidence.String(), Says: f.Description,
		Evidence: map[string]float64{}, Collections: list(f.Collections), CollectionsInAll: f.Shown,
		Advice: list(f.Advice),
		Settings: text.Each(f.Settings, func(s *findings.Setting) Setting {
			return Setting{s.Variable, s.Value, filled(s.Property), filled(s.JSON), s.Does(), s.Cost, filled(s.Since)}
		}),
		Next:      list(next),
		Types:     []AllocatedType{},
		Callers:   list(f.Callers[:min(len(f.Callers), maxCallers)]),
		Handles:   list(f.Handles),
		Pins:      list(f.Pins),
		Finalized: list(f.Finalized),
		Heaps: text.Each(f.Heaps, func(r *join.Row) HeapThread {
			return HeapThread{r.Heap, Millis(r.Working), Millis(r.Waiting), Millis(r.Waking), r.Last, Millis(r.WaitedFor)}
		}),
	}
	for _, e := range f.Evidence {
		if !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0) {
			j.Evidence[e.Name] = e.Value
		}
	}
	return j
}

// list returns a copy of the elements, which is an empty list in JSON, not null, if there are none.
func list[T any](elements []T) []T {
	return append([]T{}, elements...)
}

// known returns an id, unknown if the trace does not record it.
func known(id uint64) gc.Opt[uint64] {
	return gc.SomeIf(id, id != trace.UnknownID)
}

// filled returns a text, unknown if it is empty.
func filled(s string) gc.Opt[string] {
	return gc.SomeIf(s, s != "")
}

func millis(o gc.Opt[time.Duration]) gc.Opt[Millis] {
	v, known := o.Get()
	return gc.SomeIf(Millis(v), known)
}

// finite returns a number that JSON can hold, unknown for others.
func finite(o gc.Opt[float64]) gc.Opt[float64] {
	if v := o.Or(0); math.IsNaN(v) || math.IsInf(v, 0) {
		return gc.Opt[float64]{}
	}
	return o
}

func positive[T int | int64 | float64](n T) gc.Opt[T] {
	return gc.SomeIf(n, n > 0)
}
