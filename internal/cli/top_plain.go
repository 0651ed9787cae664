package cli

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/internal/watch"
)

// A logColumn is a column of the lines that top writes for collections.
type logColumn struct {
	text.Column
	cell func(*watch.Collection) string
}

// Times in the log: in full for other programs, the time of day on a terminal,
// if there is less room.
const (
	fullTime  = "2006-01-02T15:04:05.000Z07:00"
	timeOfDay = "15:04:05.000"
)

// logColumns returns the columns of the log, with times in a layout.
func logColumns(layout string) []logColumn {
	words := func(heading string, width, rank int, cell func(*watch.Collection) string) logColumn {
		return logColumn{text.Column{Heading: heading, Width: width, Rank: rank, Left: true}, cell}
	}
	number := func(heading string, width, rank int, cell func(*watch.Collection) string) logColumn {
		return logColumn{text.Column{Heading: heading, Width: width, Rank: rank}, cell}
	}
	return []logColumn{
		words("time", len(layout), 0, func(c *watch.Collection) string { return c.Ended.Local().Format(layout) }),
		words("process", 20, 0, func(c *watch.Collection) string { return oneWord(c.Process.Name) }),
		number("pid", 7, 4, func(c *watch.Collection) string { return collect.ID(c.Process) }),
		number("gc", 6, 5, func(c *watch.Collection) string { return strconv.FormatUint(uint64(c.Number), 10) }),
		number("gen", 3, 0, func(c *watch.Collection) string { return units.Optional(c.Generation, strconv.Itoa) }),
		words("kind", 10, 2, func(c *watch.Collection) string { return c.Kind.String() }),
		words("reason", 20, 3, func(c *watch.Collection) string { return units.Optional(c.Reason, clr.GCReason.String) }),
		number("pause_ms", 9, 0, func(c *watch.Collection) string { return units.Optional(c.Pause(), logMillis) }),
		number("before_MB", 10, 6, func(c *watch.Collection) string { return units.Optional(c.HeapBefore, logMegabytes) }),
		number("after_MB", 10, 1, func(c *watch.Collection) string { return units.Optional(c.HeapAfter, logMegabytes) }),
		number("promoted_MB", 11, 7, func(c *watch.Collection) string { return units.Optional(c.Promoted, logMegabytes) }),
		number("freed_MB", 10, 8, func(c *watch.Collection) string {
			return c.FreedQuality.Mark() + units.Optional(c.Freed, logMegabytes)
		}),
	}
}

// runPlain writes a line for each collection as it ends.
func (o *topOptions) runPlain(ctx context.Context, std *stdio) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := newCollectionLog(std, cancel)
	log.failed(log.table.Flush())
	w := watch.New(watch.Options{
		Wants: o.wants, UntilEnded: len(o.pids) > 0 || o.port.Path != "", Requests: o.requests, Processors: true, Source: o.source(),
		Each: func(n *watch.News) { log.news(n, ctx.Err() == nil) },
	})
	w.Run(ctx)
	p := text.PageOn(std.errTerm)
	writeVerdicts(p, w.Snapshot())
	writeNext(p, nextOf(w.Snapshot()))
	_ = std.err.Page(p) // there is no other output
	return log.err
}

// A collectionLog writes collections and news at once, a line each.
type collectionLog struct {
	std     *stdio
	cancel  func()
	columns []logColumn
	table   text.Table
	err     error // of writing, after which nothing is written
}

func newCollectionLog(std *stdio, cancel func()) *collectionLog {
	l := &collectionLog{std: std, cancel: cancel, columns: logColumns(fullTime)}
	l.table = text.Table{W: std.out, Stream: true, Width: std.outTerm.Width}
	if std.outTerm.Width > 0 {
		l.columns = logColumns(timeOfDay)
	}
	for i := range l.columns {
		l.table.Columns = append(l.table.Columns, l.columns[i].Column)
	}
	return l
}

func (l *collectionLog) write(c *watch.Collection) {
	if l.err != nil {
		return
	}
	cells := make([]string, len(l.columns))
	for i := range l.columns {
		cells[i] = l.columns[i].cell(c)
	}
	l.failed(l.table.Row(cells))
}

// failed ends the log if a line was not written.
func (l *collectionLog) failed(err error) {
	if err != nil {
		l.err = outputFailed(stdoutName, err)
		l.cancel()
	}
}

// news writes a collection to standard output, and other news to standard error. It skips
// processes that end because watching ends.
func (l *collectionLog) news(n *watch.News, watching bool) {
	if n.Collection != nil {
		l.write(n.Collection)
		return
	}
	if watching {
		l.std.warn("gctrail", collect.Title(n.Process)+": "+newsOf(n, "they came faster than this output takes them"))
	}
}

// newsOf describes news of a process. slow is the reason why collections were dropped.
func newsOf(n *watch.News, slow string) string {
	switch {
	case n.Attached:
		return "now watching"
	case n.Dropped > 0:
		return text.Plural(int64(n.Dropped), "collection is", "collections are") + " missing here: " + slow
	case n.Lost > 0:
		return text.Plural(int64(n.Lost), "event was", "events were") + " lost because a buffer was full"
	case n.Ended && n.Err != nil:
		return problemOf(n.Err)
	case n.Ended:
		return "ended"
	default:
		return sentence(&collect.ProcessError{Name: "not watched", Err: n.Err})
	}
}

func logMillis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
}

func logMegabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64) }

// oneWord returns a name without characters that would break a column.
func oneWord(name string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name), units.Unknown)
}
