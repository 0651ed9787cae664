package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
)

// A logColumn is a column of the lines that top writes for collections.
type logColumn struct {
	heading string
	width   int // negative for words, which are aligned left
	cell    func(*watch.Collection) string
}

var logColumns = []logColumn{
	{"time", -29, func(c *watch.Collection) string { return c.Ended.Local().Format("2006-01-02T15:04:05.000Z07:00") }},
	{"process", -20, func(c *watch.Collection) string { return oneWord(c.Process.Name) }},
	{"pid", 7, func(c *watch.Collection) string { return collect.ID(c.Process) }},
	{"gc", 6, func(c *watch.Collection) string { return strconv.FormatUint(uint64(c.Number), 10) }},
	{"gen", 3, func(c *watch.Collection) string { return logged(c.Generation, strconv.Itoa) }},
	{"kind", -10, func(c *watch.Collection) string { return c.Kind.String() }},
	{"reason", -20, func(c *watch.Collection) string { return logged(c.Reason, clr.GCReason.String) }},
	{"pause_ms", 9, func(c *watch.Collection) string { return logged(c.Pause(), logMillis) }},
	{"before_MB", 10, func(c *watch.Collection) string { return logged(c.HeapBefore, logMegabytes) }},
	{"after_MB", 10, func(c *watch.Collection) string { return logged(c.HeapAfter, logMegabytes) }},
	{"promoted_MB", 11, func(c *watch.Collection) string { return logged(c.Promoted, logMegabytes) }},
	{"freed_MB", 10, func(c *watch.Collection) string {
		return certaintyMarks[c.FreedQuality] + logged(c.Freed, logMegabytes)
	}},
}

// runPlain writes a line for each collection as it ends.
func (o *topOptions) runPlain(ctx context.Context, std *stdio) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := &collectionLog{std: std, cancel: cancel}
	log.write(func(c *logColumn) string { return c.heading })
	w := watch.New(watch.Options{Wants: o.wants, UntilEnded: len(o.pids) > 0, Each: func(n *watch.News) {
		log.tell(n, ctx.Err() == nil)
	}})
	w.Run(ctx)
	p := text.PageOn(std.errTerm)
	writeVerdicts(p, w.Snapshot())
	writeNext(p, nextOf(w.Snapshot()))
	_ = std.err.Page(p) // there is nobody else to tell
	return log.err
}

// A collectionLog writes what happens, a line each, at once.
type collectionLog struct {
	std    *stdio
	cancel func()
	err    error // of writing, after which nothing is written
}

func (l *collectionLog) write(cell func(*logColumn) string) {
	if l.err != nil {
		return
	}
	var line strings.Builder
	for i := range logColumns {
		c := &logColumns[i]
		fmt.Fprintf(&line, "%*s ", c.width, cell(c))
	}
	if err := text.NewPrinter(l.std.out).Line("%s", strings.TrimRight(line.String(), " ")); err != nil {
		l.err = outputFailed(stdoutName, err)
		l.cancel()
	}
}

// tell writes a collection to standard output, and what else there is to tell to
// standard error. A process that ends because the watching does is no news.
func (l *collectionLog) tell(n *watch.News, watching bool) {
	if n.Collection != nil {
		l.write(func(c *logColumn) string { return c.cell(n.Collection) })
		return
	}
	name, words := collect.Title(n.Process), ""
	switch {
	case n.Attached:
		words = "now watching"
	case n.Dropped > 0:
		words = text.Plural(int64(n.Dropped), "collection is", "collections are") + " missing here: the reader of this output is too slow"
	case n.Lost > 0:
		words = text.Plural(int64(n.Lost), "event was", "events were") + " lost because the runtime's buffer was full"
	case n.Ended && n.Err != nil:
		words = problemOf(n.Err)
	case n.Ended:
		words = "ended"
	default:
		words = sentence(&collect.ProcessError{Name: "not watched", Err: n.Err})
	}
	if watching {
		l.std.warn("gctrail", name+": "+words)
	}
}

// logged writes a figure that may be unknown.
func logged[T any](v gc.Opt[T], write func(T) string) string {
	if figure, ok := v.Get(); ok {
		return write(figure)
	}
	return "-"
}

func logMillis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
}

func logMegabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64) }

// oneWord is a name without what would break a column.
func oneWord(name string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name), "-")
}
