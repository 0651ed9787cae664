package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
)

type dumpOptions struct {
	collect.Target
	dump collect.Dump
	yes  bool
}

func newDumpCmd(std *stdio) *cobra.Command {
	o := &dumpOptions{dump: collect.Dump{Repeat: 1, Every: time.Minute}}
	cmd := newCmd(std, o, "dump {-p PID | -n NAME | --diagnostic-port ADDRESS,connect}",
		"Take a heap snapshot of a process: all objects, and what refers to them", someIDs(&o.PIDs))
	cmd.SuggestFor = []string{"gcdump", "snapshot", "heapdump"}
	flags := cmd.Flags()
	std.addTargetFlags(cmd, &o.Target, "the process with this id", "the process with a matching name, as in 'web*'")
	flags.Var(portFlag(&o.Port), "diagnostic-port", connectHelp)
	flags.IntVar(&o.dump.Repeat, "repeat", o.dump.Repeat, "take `N` snapshots")
	flags.Var(spanFlag(&o.dump.Every), "every", "the time from one snapshot to the next, such as 60s")
	flags.Var((*bufferSize)(&o.dump.BufferMB), "buffersize", fmt.Sprintf("size of the runtime's buffer; events that do not fit are lost (default %d, more for large heaps)", collect.DumpBufferMB))
	flags.BoolVar(&o.yes, "yes", false, "do not ask before a long pause")
	flags.StringVarP(&o.dump.Output, "output", "o", "", "write to this `file` or folder (default NAME_DATE_TIME.nettrace); - is standard output")
	return cmd
}

func (o *dumpOptions) conflict() error {
	return cmp.Or(firstBroken(
		rule{o.dump.Repeat < 1, "--repeat must be at least 1"},
		rule{len(o.PIDs) == 0 && len(o.Names) == 0 && o.Port.Path == "", "no process given: use -p PID or -n NAME; list the .NET processes with: gctrail ps"},
		rule{len(o.PIDs) > 0 && len(o.Names) > 0, "-p and -n cannot be used together: give an id or a name"},
	), connectConflict(&o.Target))
}

func (o *dumpOptions) run(ctx context.Context, std *stdio) error {
	if o.dump.Output == "-" && std.outTerm.Is {
		return misusef("refusing to write a binary trace to a terminal: redirect standard output, or use -o FILE")
	}
	found, _, err := o.Find(ctx)
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return misusef("%d processes match (%s): give one with -p PID", len(found), collect.Titles(found))
	}
	if agreed, err := std.agreeToDump(found, o.yes); err != nil || !agreed {
		return err
	}
	talk := &collectTalk{std: std, line: &progress{}}
	o.dump.Process, o.dump.Stdout, o.dump.Notify = found[0], std.out, talk.notify
	talk.line = std.show(func(elapsed time.Duration) string {
		return fmt.Sprintf("taking a snapshot of %s: %s, %s", collect.Title(found[0]), units.Bytes(o.dump.Received()), units.Duration(elapsed))
	})
	result, err := o.dump.Run(ctx)
	talk.line.stop()
	if result != nil {
		std.printDump(result)
	}
	return err
}

// askedPause is the expected pause from which a command asks before it takes a snapshot.
const askedPause = time.Second

// agreeToDump prints the cost of a snapshot of each process, and asks whether to take it if that
// is much.
func (std *stdio) agreeToDump(processes []*diag.Process, yes bool) (bool, error) {
	long := false
	for _, p := range processes {
		cost := collect.ExpectedCost(p)
		long = long || !cost.Known() || cost.Or(collect.DumpCost{}).Pause >= askedPause
		std.warn("gctrail", collect.Title(p)+": "+dumpCostText(p, cost))
	}
	if yes || !long || !std.errTerm.Is || !term.IsTerminal(int(os.Stdin.Fd())) {
		return true, nil
	}
	_ = std.err.Line("gctrail: take it? [y/N] ") // there is no other output
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return false, err
	}
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y"), nil
}

// dumpCostText describes the cost of a snapshot of a process.
func dumpCostText(p *diag.Process, cost gc.Opt[collect.DumpCost]) string {
	says := "a snapshot pauses it for up to 0.75 seconds for each million objects, and how many it has is unknown"
	if c, known := cost.Get(); known {
		says = fmt.Sprintf("a snapshot pauses it for up to %s and is up to %s large, an estimate for memory full of objects of 50 bytes", units.Duration(c.Pause), units.Bytes(c.Bytes))
	}
	if collect.CollectsTwice(p) {
		says += "; its runtime collects twice for each snapshot"
	}
	return says
}

// A dumper takes heap snapshots to files in the working folder.
type dumper struct{ paths *collect.Paths }

// Cost is dumpCostText for a screen.
func (*dumper) Cost(p *diag.Process) string {
	c, known := collect.ExpectedCost(p).Get()
	if !known {
		return "pauses it up to 0.75 s for each million objects"
	}
	times := ""
	if collect.CollectsTwice(p) {
		times = "2 x "
	}
	return fmt.Sprintf("pauses it up to %s%s, up to %s", times, units.Duration(c.Pause), units.Bytes(c.Bytes))
}

// Take takes a heap snapshot, and returns a few words about it.
func (d *dumper) Take(ctx context.Context, p *diag.Process) (path, about string, err error) {
	if etw.Needed(p) {
		return "", "", errors.New("there are none of .NET Framework processes")
	}
	path = d.paths.Next(p, time.Now())
	dump := &collect.Dump{Process: p, Output: path, Repeat: 1, Notify: func(collect.Notice) {}}
	if _, err := dump.Run(ctx); err != nil {
		return "", "", err
	}
	snapshots, pauses, err := readSnapshots(path)
	if err != nil || len(snapshots) == 0 {
		return "", "", cmp.Or(err, errNoSnapshot)
	}
	best := snapshots[0]
	for _, s := range snapshots {
		if s.Missing.Whole() {
			best = s
			break
		}
	}
	return path, snapshotText(best, pauses[best.Number]), nil
}

// errNoSnapshot reports a session without a snapshot.
var errNoSnapshot = errors.New("the process has ended, or sent none")

// printDump prints the snapshots of the file, and the command that shows them.
func (std *stdio) printDump(r *collect.Result) {
	std.warn("gctrail", fmt.Sprintf("%s: %s", r.Path, units.Bytes(r.Size)))
	std.printMissing(r)
	std.printLost(r, "take a snapshot with a larger --buffersize")
	if !r.Regular {
		return
	}
	snapshots, pauses, err := readSnapshots(r.Path)
	if err != nil {
		std.complain(err)
		return
	}
	for _, s := range snapshots {
		std.warn("gctrail", snapshotText(s, pauses[s.Number]))
	}
	p := text.PageOn(std.errTerm)
	p.Command("  ", "gctrail objects "+text.Quoted(r.Path))
	_ = std.err.Page(p) // there is no other output
}

// snapshotText describes a snapshot.
func snapshotText(s *heap.Snapshot, pause gc.Opt[time.Duration]) string {
	says := fmt.Sprintf("GC %d: %s, %s", s.Number, text.Plural(s.Objects, "object", "objects"), units.Bytes(s.Bytes))
	if !s.Missing.Whole() {
		says = fmt.Sprintf("GC %d: at least %s, %s; the rest of the snapshot is missing", s.Number, text.Plural(s.Objects, "object", "objects"), units.Bytes(s.Bytes))
	}
	if d, known := pause.Get(); known {
		says += ", paused for " + units.Duration(d)
	}
	switch {
	case s.Native():
		says += "; types have no names, because NativeAOT programs send none"
	case s.Nameless() == len(s.Types):
		says += "; types have no names, because another session has received them: take a snapshot when it has ended, or use gctrail objects --types-from"
	}
	return says
}

// readSnapshots reads the snapshots in a trace, and the pauses of its collections.
func readSnapshots(path string) ([]*heap.Snapshot, map[uint32]gc.Opt[time.Duration], error) {
	var m heap.Snapshots
	model := new(gc.Model)
	in, err := open.File(path, open.Options{Want: pass.Wants(model, &m), Head: pass.Head(model, &m)})
	if err != nil {
		return nil, nil, &inputError{path, err}
	}
	defer in.Close()
	pauses := map[uint32]gc.Opt[time.Duration]{}
	for c, err := range model.Collections(in.Source, &m) {
		if err != nil {
			return nil, nil, &inputError{path, err}
		}
		pauses[c.Number] = c.Pause()
	}
	loss := in.Source.Loss()
	all := m.All()
	for _, s := range all {
		s.Lost(loss)
	}
	return all, pauses, nil
}
