package fleet

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/export/column"
	"github.com/gctrail/gctrail/gc"
)

// A Group sums up the collections of processes that have something in common.
type Group struct {
	Names       []string // the values of the columns that it was grouped by
	Processes   int64
	Collections int64
	First, Last time.Time // of its collections

	Pause         time.Duration // all pauses together
	Longest       time.Duration
	Median, P99   time.Duration // estimates, within 2 %
	Watched       time.Duration // from the first to the last collection, of all processes together
	Allocated     int64         // bytes
	HeapAfter     int64         // bytes after the collection that left most; 0 if unknown
	Gen2          int64         // collections of generation 2
	LossCanAffect int64         // collections whose figures lost events may touch
}

// PauseShare returns the percentage of the watched time in which threads were
// paused. It is unknown if no process has two collections.
func (g *Group) PauseShare() gc.Opt[float64] {
	if g.Watched <= 0 {
		return gc.Opt[float64]{}
	}
	return gc.Some(100 * min(1, g.Pause.Seconds()/g.Watched.Seconds()))
}

// Top returns the groups of collections with the most pause. The columns to group by are
// text or number columns of the table of collections.
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
	names := make([]string, len(by))
	for i, name := range by {
		names[i] = quoteName(name)
	}
	prefix := ""
	if len(names) > 0 {
		prefix = strings.Join(names, ", ") + ", "
	}
	inner := fmt.Sprintf(`SELECT %s%s AS uid, count() AS n, min(%s) AS first, max(%s) AS last,
 sum(pause_ms) AS pause, max(pause_ms) AS longest, quantilesTDigestState(0.5, 0.99)(assumeNotNull(pause_ms)) AS digest,
 sum(allocated_bytes) AS allocated, max(heap_after_bytes) AS heap, countIf(generation = 2) AS gen2, countIf(affected_by_loss = 1) AS lossy
 FROM %s FINAL WHERE %s GROUP BY %suid`,
		prefix, columnUID, columnTime, columnTime, quoteName(Collections().Name), f.sql(), prefix)
	query := fmt.Sprintf(`SELECT %scount() AS processes, sum(n) AS collections, min(first) AS since, max(last) AS until,
 ifNull(sum(pause), 0) AS paused, ifNull(max(longest), 0) AS most, quantilesTDigestMerge(0.5, 0.99)(digest) AS quantiles, sum(last - first) AS watched,
 ifNull(sum(allocated), 0) AS bytes, ifNull(max(heap), 0) AS after, sum(gen2) AS second, sum(lossy) AS affected
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
	g.Pause, g.Longest = millis(a.float()), millis(a.float())
	quantiles := answerRow{row: a.list()}
	g.Median, g.P99 = min(g.Longest, millis(quantiles.float())), min(g.Longest, millis(quantiles.float()))
	g.Watched = time.Duration(a.int())
	g.Allocated, g.HeapAfter, g.Gen2, g.LossCanAffect = a.int(), a.int(), a.int(), a.int()
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
		names := make([]string, len(by))
		for i, name := range by {
			names[i] = Text(t.Value(row, name))
		}
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
		return cmp.Or(cmp.Compare(b.Pause, a.Pause), slices.Compare(a.Names, b.Names))
	})
	return groups[:min(limit, len(groups))], nil
}

const maxGroups = 1 << 16

// summed are the columns that a sum is computed from.
var summed = []string{"pause_ms", "allocated_bytes", "heap_after_bytes", "generation", "affected_by_loss"}

// A sum accumulates the figures of a group.
type sum struct {
	Group
	processes map[string]*span
	pauses    histogram
}

// A span is the time from the first to the last collection of a process.
type span struct{ first, last int64 }

func (s *sum) add(t *Table, row Row) {
	at := t.Value(row, columnTime).Int
	uid := t.Value(row, columnUID).Text
	p := s.processes[uid]
	if p == nil {
		p = &span{at, at}
		s.processes[uid] = p
	}
	p.first, p.last = min(p.first, at), max(p.last, at)
	s.Collections++
	if v := t.Value(row, "pause_ms"); v.Type == column.Millis {
		pause := time.Duration(v.Int)
		s.Pause += pause
		s.Longest = max(s.Longest, pause)
		s.pauses.add(pause)
	}
	s.Allocated += t.Value(row, "allocated_bytes").Int
	s.HeapAfter = max(s.HeapAfter, t.Value(row, "heap_after_bytes").Int)
	if v := t.Value(row, "generation"); v.Type == column.Int && v.Int == 2 {
		s.Gen2++
	}
	s.LossCanAffect += t.Value(row, "affected_by_loss").Int
}

func (s *sum) group() Group {
	g := s.Group
	g.Processes = int64(len(s.processes))
	first, last := int64(0), int64(0)
	for _, p := range s.processes {
		if first == 0 || p.first < first {
			first = p.first
		}
		last = max(last, p.last)
		g.Watched += time.Duration(p.last - p.first)
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
func Text(v column.Value) string {
	switch v.Type {
	case column.Text:
		return v.Text
	case column.Int, column.Bytes:
		return fmt.Sprint(v.Int)
	case column.Bool:
		return fmt.Sprint(v.Int != 0)
	}
	n, known := numeric(v)
	if !known {
		return ""
	}
	return fmt.Sprint(n)
}
