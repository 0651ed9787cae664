package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/tui"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

type topOptions struct {
	collect.Target
	plain    bool
	sort     choice
	duration time.Duration
	requests bool
}

func newTopCmd(std *stdio) *cobra.Command {
	o := newTopOptions()
	cmd := newCmd(std, o, "top [-p PID | -n NAME | --diagnostic-port ADDRESS,connect]",
		"Watch the collections of running .NET processes", someIDs(&o.PIDs))
	cmd.SuggestFor = []string{"monitor", "watch", "counters", "live", "attach"}
	flags := cmd.Flags()
	std.addTargetFlags(cmd, &o.Target, "only the processes with these ids", watchedNames)
	flags.Var(portFlag(&o.Port), "diagnostic-port", connectHelp)
	flags.BoolVar(&o.plain, "plain", false, "print one line for each collection")
	flags.Var(&o.sort, "sort", "sort the processes by this column")
	flags.Var(spanFlag(&o.duration), "duration", "stop after this time: dd:hh:mm:ss, or a duration such as 90s")
	flags.BoolVar(&o.requests, "requests", false, "also the requests of each process: how many, how long they take, how much of that is the GC")
	return cmd
}

// watchedNames describes the flag --name of commands that watch processes.
const watchedNames = "only processes with matching names, as in 'web*', including ones that start later"

func newTopOptions() *topOptions {
	sorts := tui.Sorts()
	return &topOptions{sort: choice{sorts[0], sorts}}
}

func (o *topOptions) conflict() error {
	if len(o.PIDs) > 0 && len(o.Names) > 0 {
		return errors.New("-p and -n cannot be used together: give ids or names")
	}
	return connectConflict(&o.Target)
}

func (o *topOptions) run(ctx context.Context, std *stdio) error {
	if err := o.check(ctx); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	limitGrowth(followGrowth)
	if o.duration > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	if o.plain || !std.interactive() {
		return o.runPlain(ctx, std)
	}
	return o.runScreen(ctx, std)
}

// check returns which of the processes that are asked for by id cannot be watched.
func (o *topOptions) check(ctx context.Context) error {
	if o.Port.Path == "" && len(o.PIDs) == 0 {
		return nil
	}
	o.Framework = etw.Native() != nil
	_, _, err := o.Find(ctx)
	return err
}

// wants reports whether to watch a process.
func (o *topOptions) wants(p *diag.Process) bool {
	return o.Names.Match(p) && (len(o.PIDs) == 0 || slices.Contains(o.PIDs, p.PID))
}

// source returns the source of processes and collections: the process at the port, or all of
// this machine.
func (o *topOptions) source() watch.Source {
	if o.Port.Path == "" {
		return watchSource(etw.Native())
	}
	return watch.Source{List: func(ctx context.Context) []*diag.Process {
		p, err := o.Port.Process(ctx)
		if err != nil {
			return nil // it has ended, or its router has
		}
		return []*diag.Process{p}
	}}
}

// watchSource finds processes and collections: of this machine, including .NET
// Framework's if there is ETW.
func watchSource(system etw.System) watch.Source {
	if system == nil {
		return watch.Source{}
	}
	lister, framework := diag.NewLister(), etw.NewProcessFollower(system)
	return watch.Source{
		List:     func(ctx context.Context) []*diag.Process { return etw.Followable(lister.List(ctx)) },
		Arrivals: lister.Arrivals,
		Follow: func(ctx context.Context, p *diag.Process, opts live.Options) iter.Seq2[*live.Update, error] {
			if etw.Needed(p) {
				return framework.Follow(ctx, p)
			}
			return live.Follow(ctx, p, opts)
		},
	}
}

// interactive reports whether a user can press keys, on a terminal that shows more than
// lines.
func (std *stdio) interactive() bool {
	return std.outTerm.Is && term.IsTerminal(int(os.Stdin.Fd()))
}

func (o *topOptions) runScreen(ctx context.Context, std *stdio) error {
	w := watch.New(watch.Options{Wants: o.wants, Requests: o.requests, Memory: true, Processors: true, Source: o.source()})
	paths := collect.NewPaths("")
	dumps := &dumper{paths}
	var next atomic.Pointer[string] // the command that shows the latest file
	var dumping sync.WaitGroup
	err := tui.Run(ctx, tui.Options{
		Snapshot: w.Snapshot,
		Save: func(p *watch.Process) (string, int, error) {
			path, size, err := saveTrace(w, p, paths)
			if err == nil {
				next.Store(new("gctrail " + text.Quoted(path)))
			}
			return path, size, err
		},
		DumpCost: func(p *watch.Process) string { return dumps.Cost(p.Process) },
		Dump: func(p *watch.Process) (path, about string, err error) {
			dumping.Add(1)
			defer dumping.Done()
			if path, about, err = dumps.Take(ctx, p.Process); err == nil {
				next.Store(new("gctrail objects " + text.Quoted(path)))
			}
			return path, about, err
		},
		Reason:     problemOf,
		Remedy:     diag.Remedy,
		Sort:       o.sort.value,
		Colour:     std.outTerm.Colour,
		Unicode:    text.UnicodeLocale(),
		Columns:    columnsAsked(),
		WindowSize: windowSize,
	}, w.Run)
	dumping.Wait() // or its file would have half of the heap
	p := text.PageOn(std.outTerm)
	writeVerdicts(p, w.Snapshot())
	if command := next.Load(); command != nil {
		writeNext(p, *command)
	} else {
		writeNext(p, nextOf(w.Snapshot()))
	}
	_, _ = std.out.Write(p.Bytes()) // there is no other output
	return err
}

// writeVerdicts prints the verdict on each process.
func writeVerdicts(p *text.Page, s *watch.Snapshot) {
	for _, process := range s.Processes {
		if process.Verdict != "" {
			p.Prose(collect.Title(process.Process)+": ", process.Verdict)
		}
		if parts := tui.RequestParts(process.Requests); parts != nil {
			p.Prose(collect.Title(process.Process)+": ", strings.Join(parts, ", ")+".")
		}
	}
}

// nextOf returns the command to run after watching: a trace of the process that paused
// for the largest part of its time; empty if none was watched.
func nextOf(s *watch.Snapshot) string {
	var worst *watch.Process
	for _, p := range s.Processes {
		if p.Verdict != "" && p.Name != "" && (worst == nil || p.PausedInAll.Or(0) > worst.PausedInAll.Or(0)) {
			worst = p
		}
	}
	if worst == nil {
		return ""
	}
	return "gctrail collect -n " + text.Quoted(worst.Name) + " --duration 60s"
}

func writeNext(p *text.Page, command string) {
	if command != "" {
		p.Section("Next")
		p.Command("  ", command)
	}
}

// saveTrace writes the received part of a process's trace to a file in the working
// folder.
func saveTrace(w *watch.Watcher, p *watch.Process, paths *collect.Paths) (path string, size int, err error) {
	if etw.Needed(p.Process) {
		return "", 0, errors.New("events of .NET Framework processes are not kept; record them with: gctrail collect -n " + text.Quoted(p.Name))
	}
	path = paths.Next(p.Process, time.Now())
	f, err := outfile.Create(path, 0o600, nil)
	if err != nil {
		return "", 0, errors.New(path + ": " + reason(err))
	}
	defer f.Close()
	if err := writeSaved(w, p, f); err != nil {
		return "", 0, err
	}
	written, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return "", 0, err
	}
	return path, int(written), f.Commit()
}

// writeSaved writes the received part of a process's trace as a complete one.
func writeSaved(w *watch.Watcher, p *watch.Process, out io.Writer) error {
	var received bytes.Buffer
	if _, err := w.Save(p.ID, &received); err != nil {
		return err
	}
	return collect.WriteSnapshot(out, received.Bytes(), collect.Described(p.Process))
}

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
		Wants: o.wants, UntilEnded: len(o.PIDs) > 0 || o.Port.Path != "", Requests: o.requests, Processors: true, Source: o.source(),
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
	if std.outTerm.Width > 0 {
		l.columns = logColumns(timeOfDay)
	}
	columns := text.Each(l.columns, func(c *logColumn) text.Column { return c.Column })
	l.table = text.Table{W: std.out, Stream: true, Width: std.outTerm.Width, Columns: columns}
	return l
}

func (l *collectionLog) write(c *watch.Collection) {
	if l.err != nil {
		return
	}
	l.failed(l.table.Row(text.Each(l.columns, func(of *logColumn) string { return of.cell(c) })))
}

// failed ends the log if a line was not written.
func (l *collectionLog) failed(err error) {
	if err != nil {
		l.err = collect.OutputFailed(stdoutName, err)
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
