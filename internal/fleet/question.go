package fleet

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/text"
)

// A Group sums up the collections of processes that have something in common.
type Group struct {
	Names       []string // the values of the columns that it was grouped by
	Processes   int64
	Collections int64
	First, Last time.Time // of its collections

	Pause       gc.Sum[time.Duration] // a lower bound if the pause of a collection is unknown
	Longest     time.Duration
	Median, P99 time.Duration // estimates, within 2 %
	// Watched is the time from the end of the collection before the first one to the end
	// of the last one, of all processes together. If the store does not know when the
	// collection before ended, the time begins with the end of the first.
	Watched time.Duration
	// Allocated is the number of bytes that the collections count: allocations up to the
	// start of each process's last one.
	Allocated     gc.Opt[int64]
	AllocatedIs   gc.Certainty
	HeapAfter     int64 // bytes after the collection that left most; 0 if unknown
	Gen2          int64 // collections of generation 2
	LossCanAffect int64 // collections whose figures lost events may touch

	before time.Duration // pauses that begin the watched time, and are not in it
}

// PauseShare returns the percentage of the watched time in which threads were paused, as
// certain as Pause is. It is unknown if no pause or no time between collections is known.
func (g *Group) PauseShare() gc.Opt[float64] {
	pause, known := g.Pause.Opt().Get()
	return gc.SomeIf(100*min(1, (pause-g.before).Seconds()/g.Watched.Seconds()), known && g.Watched > 0)
}

// setAllocated sets Allocated and its certainty. known collections have a figure, and
// some of these are estimates. The others make the sum a lower bound.
func (g *Group) setAllocated(bytes, known, estimated, least int64) {
	if known == 0 {
		return
	}
	g.Allocated, g.AllocatedIs = gc.Some(bytes), gc.Exact
	switch {
	case estimated > 0:
		g.AllocatedIs = gc.Estimate
	case least > 0:
		g.AllocatedIs = gc.LowerBound
	}
}

// Top returns the groups of collections with the most pause. by names text or number
// columns of the table of collections.
func Top(ctx context.Context, s Store, f *Filter, by []string, limit int) ([]Group, error) {
	for _, name := range by {
		if !Collections().Has(name) {
			return nil, fmt.Errorf("no column %q in table %s", name, Collections().Name)
		}
	}
	return s.groups(ctx, f, by, limit)
}

// Latest returns at most limit of the selected rows of a table, the newest first.
// If columns are named, the others are unknown.
func Latest(ctx context.Context, s Store, t *Table, f *Filter, limit int, columns ...string) ([]Row, error) {
	if len(columns) == 0 {
		return s.latest(ctx, t, f, limit)
	}
	few := t.only(f, columns...)
	rows, err := s.latest(ctx, few, f, limit)
	for i, row := range rows {
		rows[i] = make(Row, len(t.Columns))
		for c := range few.Columns {
			rows[i][t.index[few.Columns[c].Name]] = row[c]
		}
	}
	return rows, err
}

// groups of a server.
func (c *ClickHouse) groups(ctx context.Context, f *Filter, by []string, limit int) ([]Group, error) {
	names := text.Each(by, func(name *string) string { return quoteName(*name) })
	prefix := ""
	if len(names) > 0 {
		prefix = strings.Join(names, ", ") + ", "
	}
	const length = "greatest(ifNull(duration_ms, 0), ifNull(pause_ms, 0))"
	inner := fmt.Sprintf(`SELECT %[1]s%[2]s AS uid, count() AS n, min(%[3]s) AS first, max(%[3]s) AS last,
 argMin(ifNull(since_last_ms, -1), %[3]s) AS idle, argMin(ifNull(pause_ms, 0), %[3]s) AS opening, argMin(%[4]s, %[3]s) AS opened, max(%[3]s + toInt64(%[4]s * 1e6)) AS ended,
 sum(pause_ms) AS pause, count(pause_ms) AS timed, max(pause_ms) AS longest, quantilesTDigestState(0.5, 0.99)(assumeNotNull(pause_ms)) AS digest,
 sum(ifNull(allocated_bytes, allocated_by_ticks_bytes)) AS allocated, count(ifNull(allocated_bytes, allocated_by_ticks_bytes)) AS counted,
 countIf(allocated_is = 'estimate' OR allocated_bytes IS NULL AND allocated_by_ticks_bytes IS NOT NULL) AS estimated,
 countIf(allocated_is = 'lower_bound' OR affected_by_loss = 1 OR allocated_bytes IS NULL AND allocated_by_ticks_bytes IS NULL) AS least,
 max(heap_after_bytes) AS heap, countIf(generation = 2) AS gen2, countIf(affected_by_loss = 1) AS lossy
 FROM %[5]s FINAL WHERE %[6]s GROUP BY %[1]suid`,
		prefix, columnUID, columnTime, length, quoteName(Collections().Name), f.sql())
	query := fmt.Sprintf(`SELECT %scount() AS processes, sum(n) AS collections, min(first) AS since, max(last) AS until,
 ifNull(sum(pause), 0) AS paused, sum(timed) AS pauses, ifNull(max(longest), 0) AS most, quantilesTDigestMerge(0.5, 0.99)(digest) AS quantiles,
 sum(ended - first + toInt64(if(idle < 0, -opened, idle) * 1e6)) AS watched, sum(if(idle < 0, opening, 0)) AS before,
 ifNull(sum(allocated), 0) AS bytes, sum(counted) AS known, sum(estimated) AS estimates, sum(least) AS bounds,
 ifNull(max(heap), 0) AS after, sum(gen2) AS second, sum(lossy) AS affected
 FROM (%s)`, prefix, inner)
	if len(names) > 0 {
		query += " GROUP BY " + strings.Join(names, ", ")
	}
	query += fmt.Sprintf(" ORDER BY paused DESC LIMIT %d", limit)
	result, err := c.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	var groups []Group
	for _, row := range result.Rows {
		g, err := groupOf(row, len(by))
		if err != nil {
			return nil, err
		}
		if g.Collections > 0 {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// groupOf reads a row of the answer.
func groupOf(row []any, by int) (Group, error) {
	a := answerRow{row: row}
	var g Group
	for range by {
		g.Names = append(g.Names, a.text())
	}
	millis := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	g.Processes, g.Collections = a.int(), a.int()
	g.First, g.Last = time.Unix(0, a.int()), time.Unix(0, a.int())
	paused, timed := millis(a.float()), a.int()
	g.Pause, g.Longest = gc.SumOf(paused, int(timed), timed < g.Collections), millis(a.float())
	quantiles := answerRow{row: a.list()}
	g.Median, g.P99 = min(g.Longest, millis(quantiles.float())), min(g.Longest, millis(quantiles.float()))
	g.Watched, g.before = time.Duration(a.int()), millis(a.float())
	g.setAllocated(a.int(), a.int(), a.int(), a.int())
	g.HeapAfter, g.Gen2, g.LossCanAffect = a.int(), a.int(), a.int()
	return g, cmp.Or(a.err, quantiles.err)
}

func (c *ClickHouse) latest(ctx context.Context, t *Table, f *Filter, limit int) ([]Row, error) {
	var rows []Row
	for row, err := range c.selected(ctx, t, f, fmt.Sprintf(" ORDER BY %s DESC LIMIT %d", columnTime, limit)) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.Clone(row))
	}
	return rows, nil
}

func (c *ClickHouse) rows(ctx context.Context, t *Table, f *Filter) iter.Seq2[Row, error] {
	return c.selected(ctx, t, f, "")
}

// groups of a folder.
func (f *Folder) groups(ctx context.Context, filter *Filter, by []string, limit int) ([]Group, error) {
	t := Collections().only(filter, append(slices.Clone(by), summed...)...)
	sums := make(map[string]*sum)
	for row, err := range f.rows(ctx, t, filter) {
		if err != nil {
			return nil, err
		}
		names := text.Each(by, func(name *string) string { return Text(t.Value(row, *name)) })
		key := strings.Join(names, "\x00")
		s := sums[key]
		if s == nil {
			if len(sums) == maxGroups {
				return nil, fmt.Errorf("more than %d groups: group by fewer columns, or select less", maxGroups)
			}
			s = &sum{Group: Group{Names: names}, processes: make(map[string]*span)}
			sums[key] = s
		}
		s.add(t, row)
	}
	groups := make([]Group, 0, len(sums))
	for _, s := range sums {
		groups = append(groups, s.group())
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Pause.Opt().Or(0), a.Pause.Opt().Or(0)), slices.Compare(a.Names, b.Names))
	})
	return groups[:min(limit, len(groups))], nil
}

const maxGroups = 1 << 16

// summed are the columns that a sum is computed from.
var summed = []string{
	"pause_ms", "duration_ms", "since_last_ms", "allocated_bytes", "allocated_is", "allocated_by_ticks_bytes", "heap_after_bytes", "generation", "affected_by_loss",
}

// A sum accumulates the figures of a group.
type sum struct {
	Group
	processes map[string]*span
	pauses    histogram

	bytes                   int64
	known, estimated, least int64 // collections, by how they count allocated bytes
}

// A span is the time from the first to the last collection of a process, in Unix
// nanoseconds.
type span struct {
	first, last int64 // their starts
	began       int64 // the end of the collection before the first, or else of the first
	ended       int64
	before      time.Duration // the pause of the first if it begins the span
}

func (s *sum) add(t *Table, row Row) {
	f := figuresOf(t, row)
	uid := t.Value(row, columnUID).Text
	p := s.processes[uid]
	if p == nil {
		p = &span{first: math.MaxInt64}
		s.processes[uid] = p
	}
	p.add(&f)
	s.Collections++
	s.Pause.Add(f.pause)
	if pause, known := f.pause.Get(); known {
		s.Longest = max(s.Longest, pause)
		s.pauses.add(pause)
	}
	s.allocate(&f)
	s.HeapAfter = max(s.HeapAfter, f.heapAfter.Or(0))
	if f.generation.Or(0) == 2 {
		s.Gen2++
	}
	if f.lossy {
		s.LossCanAffect++
	}
}

// allocate adds the bytes allocated before a collection.
func (s *sum) allocate(f *figures) {
	bytes, is := f.allocated, f.allocatedIs
	if !bytes.Known() {
		bytes, is = f.ticks, gc.Estimate
	}
	if bytes.Known() {
		s.known++
		s.bytes += bytes.Or(0)
	}
	if bytes.Known() && is == gc.Estimate {
		s.estimated++
	}
	if !bytes.Known() || is == gc.LowerBound || f.lossy {
		s.least++
	}
}

func (p *span) add(f *figures) {
	p.last, p.ended = max(p.last, f.at), max(p.ended, f.end())
	if f.at >= p.first {
		return
	}
	p.first, p.began, p.before = f.at, f.at-int64(f.sinceLast.Or(0)), 0
	if !f.sinceLast.Known() {
		p.began, p.before = f.end(), f.pause.Or(0)
	}
}

func (s *sum) group() Group {
	g := s.Group
	g.Processes = int64(len(s.processes))
	g.setAllocated(s.bytes, s.known, s.estimated, s.least)
	first, last := int64(0), int64(0)
	for _, p := range s.processes {
		if first == 0 || p.first < first {
			first = p.first
		}
		last = max(last, p.last)
		g.Watched += time.Duration(p.ended - p.began)
		g.before += p.before
	}
	g.First, g.Last = time.Unix(0, first), time.Unix(0, last)
	g.Median, g.P99 = min(g.Longest, s.pauses.quantile(0.5)), min(g.Longest, s.pauses.quantile(0.99))
	return g
}

func (f *Folder) latest(ctx context.Context, t *Table, filter *Filter, limit int) ([]Row, error) {
	var rows []Row
	newest := func(a, b Row) int {
		return cmp.Compare(t.Value(b, columnTime).Int, t.Value(a, columnTime).Int)
	}
	for row, err := range f.rows(ctx, t, filter) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.Clone(row))
		if len(rows) >= 2*limit+1024 {
			slices.SortStableFunc(rows, newest)
			rows = rows[:limit]
		}
	}
	slices.SortStableFunc(rows, newest)
	return rows[:min(limit, len(rows))], nil
}

// Text returns a value as text: times in milliseconds, sizes in bytes, empty if
// unknown.
func Text(v figure.Value) string {
	switch v.Type {
	case figure.Text:
		return v.Text
	case figure.Int, figure.Bytes:
		return fmt.Sprint(v.Int)
	case figure.Bool:
		return fmt.Sprint(v.Int != 0)
	}
	if n, known := v.InFiles(); known {
		return fmt.Sprint(n)
	}
	return ""
}
