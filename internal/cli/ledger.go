package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/internal/agent"
	"github.com/gctrail/gctrail/internal/ledger"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

type ledgerOptions struct {
	args   []string // the ledger to show; none lists them
	folder string
	format choice
}

func newLedgerCmd(std *stdio) *cobra.Command {
	o := &ledgerOptions{format: choice{"table", []string{"table", "jsonl"}}}
	cmd := newCmd(std, o, "ledger [FILE|PID|NAME]", "Show the last minutes of a process's memory, even if it was killed",
		cobra.MatchAll(cobra.MaximumNArgs(1), anyArgs(&o.args)))
	cmd.SuggestFor = []string{"oom", "memory", "killed"}
	flags := cmd.Flags()
	flags.StringVar(&o.folder, "ledger", "", "read the files in this `FOLDER`, that of agent --ledger (default the agent's)")
	flags.Var(&o.format, "format", "table or jsonl (JSON lines)")
	return cmd
}

func (o *ledgerOptions) conflict() error {
	if o.format.value == "jsonl" && len(o.args) == 0 {
		return &usageError{whole: true, err: errors.New("--format jsonl needs a ledger: gctrail ledger --format jsonl PID")}
	}
	return nil
}

func (o *ledgerOptions) run(_ context.Context, std *stdio) error {
	if len(o.args) == 0 {
		return o.list(std)
	}
	return o.show(std, o.args[0])
}

// folderOf returns the folder of --ledger, or the agent's.
func (o *ledgerOptions) folderOf() string { return cmp.Or(o.folder, agent.DefaultLedgers(os.Getenv)) }

// all returns the ledgers in the folder, and warns of unreadable ones.
func (o *ledgerOptions) all(std *stdio) ([]*ledger.Ledger, error) {
	all, err := ledger.List(o.folderOf())
	if err != nil && len(all) == 0 {
		return nil, fmt.Errorf("%s: %s; gctrail agent keeps ledgers while it runs", text.Quoted(o.folderOf()), reason(err))
	}
	if err != nil {
		std.warn("gctrail", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return all, nil
}

// find returns the ledger that an argument names.
func (o *ledgerOptions) find(std *stdio, arg string) (*ledger.Ledger, error) {
	if strings.HasSuffix(arg, ledger.Suffix) || strings.ContainsRune(filepath.ToSlash(arg), '/') {
		l, err := ledger.Open(arg)
		if err != nil {
			return nil, fmt.Errorf("%s: %s; list the ledgers with: %s", text.Quoted(arg), reason(err), o.listing())
		}
		return l, nil
	}
	var pattern selection.Glob
	if err := pattern.Set(arg); err != nil {
		return nil, &usageError{whole: true, err: fmt.Errorf("%q: %w", arg, err)}
	}
	all, err := o.all(std)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(l *ledger.Ledger) bool { return strconv.Itoa(l.PID) == arg || pattern.Matches(l.Name) })
	if i < 0 {
		return nil, &noLedgerError{arg, o.listing()}
	}
	return all[i], nil
}

// A noLedgerError reports a process without a ledger.
type noLedgerError struct{ name, listing string }

func (e *noLedgerError) Error() string {
	return fmt.Sprintf("%s: no ledger of such a process; list them with: %s", text.Quoted(e.name), e.listing)
}

// listing returns the command that lists the ledgers of the folder.
func (o *ledgerOptions) listing() string {
	if o.folder == "" {
		return "gctrail ledger"
	}
	return "gctrail ledger --ledger " + text.Quoted(o.folder)
}

var ledgerColumns = []text.Column{
	{Heading: "until", Left: true},
	{Heading: "pid"},
	{Heading: "process", Left: true},
	{Heading: "end", Left: true},
	{Heading: "resident MB", Rank: 2},
	{Heading: "GC heap MB", Rank: 3},
	{Heading: "native MB", Rank: 1},
	{Heading: "grew", Left: true},
}

func (o *ledgerOptions) list(std *stdio) error {
	all, err := o.all(std)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		std.warn("gctrail", "no ledgers in "+text.Quoted(o.folderOf())+"; gctrail agent keeps them while it runs")
	}
	return std.writeTo("-", nil, func(out *output) error {
		t := text.Table{W: out, Columns: ledgerColumns, Width: std.outTerm.Width, Bold: std.outTerm.Colour}
		for _, l := range all {
			warnLost(std, l)
			v := l.Judge()
			last := cmp.Or(v.Last, new(ledger.Record))
			err = errors.Join(err, t.Row([]string{
				l.Latest().Local().Format("2006-01-02 15:04:05"), strconv.Itoa(l.PID), cmp.Or(oneWord(l.Name), units.Unknown), endWord(l, &v),
				units.Optional(last.RSS, units.MB), units.Optional(last.Heap, units.MB), units.Optional(v.Native, ledger.Bounds.MB), cmp.Or(string(v.Memory), units.Unknown),
			}))
		}
		return errors.Join(err, t.Flush())
	})
}

// warnLost warns of records that cannot be read.
func warnLost(std *stdio, l *ledger.Ledger) {
	if loss := l.Loss(); loss != "" {
		std.warn("gctrail", text.Quoted(l.Path)+": "+loss)
	}
}

// silence is the time without a record after which a process counts as ended.
const silence = 10 * time.Second

func endWord(l *ledger.Ledger, v *ledger.Verdict) string {
	switch {
	case v.Cause != ledger.Running:
		return string(v.Cause)
	case time.Since(l.Latest()) > silence:
		return "not seen"
	}
	return "running"
}

func (o *ledgerOptions) show(std *stdio, arg string) error {
	l, err := o.find(std, arg)
	if err != nil {
		return err
	}
	return std.writeTo("-", nil, func(out *output) error {
		if o.format.value != "jsonl" {
			return std.writePage(out, func(p *text.Page) { report.WriteLedger(p, l) })
		}
		warnLost(std, l)
		for i := range l.Records {
			if _, err := out.Write(append(l.Records[i].AppendJSON(nil), '\n')); err != nil {
				return err
			}
		}
		return nil
	})
}
