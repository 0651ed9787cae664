package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A Memory is the ledger's account of a process's memory.
type Memory struct {
	ledger.Verdict
	of      *ledger.Ledger
	records []ledger.Record // within the time that is reported
	start   time.Time       // of the trace
}

// AddLedger adds the ledger of a process of the trace, which has the ledger's PID, or
// its name where the trace has one process: in a container, PIDs are others.
func (rep *Report) AddLedger(l *ledger.Ledger) error {
	var found *Case
	for i := range rep.cases {
		p := rep.cases[i].Summary.Process
		if p.PID == uint64(l.PID) || len(rep.cases) == 1 && p.Name != "" && p.Name == l.Name {
			found = &rep.cases[i]
		}
	}
	if found == nil {
		return fmt.Errorf("it is of %s %d, of which the trace has no GC", cmp.Or(l.Name, "process"), l.PID)
	}
	m := &Memory{Verdict: l.Judge(), of: l, start: rep.info.Start}
	from := rep.info.Start.Add(found.Summary.From.Or(0))
	to := rep.info.Start.Add(found.Summary.To.Or(rep.info.Last))
	for i := range l.Records {
		if at := l.Records[i].Time; at.After(from.Add(-time.Second)) && at.Before(to.Add(time.Second)) {
			m.records = append(m.records, l.Records[i])
		}
	}
	if len(m.records) == 0 {
		const layout = "2006-01-02 15:04:05"
		return fmt.Errorf("it has no record from %s to %s UTC, the time of the trace", from.UTC().Format(layout), to.UTC().Format(layout))
	}
	found.Memory = m
	return nil
}

// Rows of a timeline of memory: the latest seconds, and as many before them, evenly
// spread.
const (
	latestSeconds  = 10
	earlierSeconds = 10
)

// timeline returns the records that a timeline shows.
func timeline(records []ledger.Record) []*ledger.Record {
	var shown []*ledger.Record
	earlier := max(0, len(records)-1-latestSeconds)
	step := max(1, (earlier+earlierSeconds)/earlierSeconds)
	for i := range records {
		if i > earlier || i%step == 0 {
			shown = append(shown, &records[i])
		}
	}
	return shown
}

// writeTimeline writes records, whose times at returns, in a column of that
// heading.
func writeTimeline(p *text.Page, title string, records []ledger.Record, heading string, at func(*ledger.Record) string) {
	type record = *ledger.Record
	rows := timeline(records)
	var g grid
	column := func(heading string, rank int, of func(record) gc.Opt[int64], in func(int64) string) {
		g.numbers(heading, rank, text.Each(rows, func(r *record) string { return units.Optional(of(*r), in) }))
	}
	g.words(heading, 0, text.Each(rows, func(r *record) string { return at(*r) }))
	column("resident MB", 0, func(r record) gc.Opt[int64] { return r.RSS }, units.MB)
	column("GC heap MB", 0, func(r record) gc.Opt[int64] { return r.Heap }, units.MB)
	column("committed MB", 2, func(r record) gc.Opt[int64] { return r.Committed }, units.MB)
	g.numbers("native MB", 0, text.Each(rows, func(r *record) string { return units.Optional((*r).Native(), ledger.Bounds.MB) }))
	column("gen2 MB", 5, func(r record) gc.Opt[int64] { return r.Gen2 }, units.MB)
	column("LOH MB", 6, func(r record) gc.Opt[int64] { return r.LOH }, units.MB)
	column("cgroup MB", 3, func(r record) gc.Opt[int64] { return r.Used }, units.MB)
	column("GCs", 1, func(r record) gc.Opt[int64] { return r.Collections }, units.Count[int64])
	column("paused ms", 4, func(r record) gc.Opt[int64] { return r.Paused }, func(ns int64) string { return units.Millis(time.Duration(ns)) })
	g.section(p, title)
}

// WriteLedger writes the verdict of a ledger on its process, and a timeline.
func WriteLedger(p *text.Page, l *ledger.Ledger) {
	v := l.Judge()
	p.Prose(fmt.Sprintf("%s %d: ", cmp.Or(l.Name, "process"), l.PID), v.Sentence)
	about := []string{"watched from " + l.Attached.Local().Format("2006-01-02 15:04:05")}
	if l.End != nil {
		about = append(about, "ended "+l.End.Time.Local().Format("15:04:05.000"))
	}
	for _, s := range [...]struct{ name, value string }{{".NET ", l.Runtime}, {"service ", l.Service}, {"pod ", l.Pod}, {"container ", l.Container}} {
		if s.value != "" {
			about = append(about, s.name+s.value)
		}
	}
	p.Prose("", strings.Join(about, ", "))
	if v.Last != nil {
		if limit, known := v.Last.HardLimit.Get(); known {
			p.Line("GC heap limit %s", units.Bytes(limit))
		}
	}
	writeTimeline(p, "Timeline", l.Records, "time", func(r *ledger.Record) string { return r.Time.Local().Format(time.TimeOnly) })
}

// writeLedger writes the timeline of the process's memory.
func (c *Case) writeLedger(p *text.Page) {
	m := c.Memory
	if m == nil {
		return
	}
	writeTimeline(p, "Memory of the process, by the ledger", m.records, "at s", func(r *ledger.Record) string {
		return units.Count(int64(r.Time.Sub(m.start).Round(time.Second) / time.Second))
	})
}

// writeMemoryVerdict writes the ledger's verdict on the end of the process.
func (c *Case) writeMemoryVerdict(p *text.Page) {
	if c.Memory != nil {
		p.Prose("Memory: ", c.Memory.Sentence+".")
	}
}

func (m *Memory) json() *MemoryHistory {
	if m == nil {
		return nil
	}
	j := &MemoryHistory{
		End: filled(string(m.Cause)), Grew: filled(string(m.Memory)), Says: m.Sentence,
		Until: m.of.Latest().UTC().Format(time.RFC3339Nano),
		Timeline: text.Each(m.records, func(r *ledger.Record) MemoryMoment {
			return MemoryMoment{Millis(r.Time.Sub(m.start)), sizesJSON(r)}
		}),
	}
	if m.Last != nil {
		j.MemorySizes = sizesJSON(m.Last)
	}
	return j
}

func sizesJSON(r *ledger.Record) MemorySizes {
	j := MemorySizes{
		RSSBytes: r.RSS, HeapBytes: r.Heap, CommittedBytes: r.Committed,
		CgroupUsedBytes: r.Used, CgroupLimitBytes: r.Limit, HardLimitBytes: r.HardLimit,
	}
	if native, known := r.Native().Get(); known {
		j.NativeBytes, j.NativeMinBytes, j.NativeMaxBytes = native.Exact(), gc.Some(native.Least), gc.Some(native.Most)
	}
	return j
}
