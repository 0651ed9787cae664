package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/jsontext"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

type psOptions struct {
	asked  []string         // PIDs and patterns of names; none means all
	wanted []selection.Glob // of these
	format choice
}

func newPsCmd(std *stdio) *cobra.Command {
	opts := newPsOptions()
	cmd := newCmd(std, opts, "ps [PID|NAME...]", "List the .NET processes of this machine", anyArgs(&opts.asked))
	cmd.Aliases, cmd.SuggestFor = []string{"ls", "list"}, []string{"processes", "procs", "pids"}
	cmd.Flags().Var(&opts.format, "format", "table or jsonl (JSON lines)")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		all := runningProcesses()
		return append(processIDs(all), processNames(all)...), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func newPsOptions() *psOptions {
	return &psOptions{format: choice{"table", []string{"table", "jsonl"}}}
}

func (o *psOptions) conflict() error {
	o.wanted = make([]selection.Glob, len(o.asked))
	for i, pattern := range o.asked {
		if err := o.wanted[i].Set(pattern); err != nil {
			return fmt.Errorf("%q: %w", pattern, err)
		}
	}
	return nil
}

func (o *psOptions) run(ctx context.Context, std *stdio) error {
	all := diag.List(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	listed, err := o.pick(all)
	write := writeProcessTable
	if o.format.value == "jsonl" {
		write = writeProcessLines
	}
	if err := std.writeTo("-", nil, func(out *output) error { return write(std, out, listed) }); err != nil {
		return err
	}
	if len(o.wanted) > 0 {
		return err
	}
	if len(listed) == 0 {
		std.warn("gctrail", "no .NET process found on this machine; to read a trace, run: gctrail FILE")
	}
	for _, p := range listed {
		if p.Err != nil {
			std.warn("gctrail", sentence(collect.Unreachable(p)))
		}
	}
	if o.format.value != "jsonl" {
		std.suggestRecording(listed)
	}
	return nil
}

// suggestRecording prints the command that records the first process that can be.
func (std *stdio) suggestRecording(listed []*diag.Process) {
	i := slices.IndexFunc(listed, func(p *diag.Process) bool { return p.Err == nil && p.PID != 0 })
	if i < 0 {
		return
	}
	std.warn("gctrail", fmt.Sprintf("to record one, with its requests: gctrail collect -p %d --requests", listed[i].PID))
}

// pick returns the requested processes. The error names processes that are missing or
// cannot be reached.
func (o *psOptions) pick(all []*diag.Process) ([]*diag.Process, error) {
	if len(o.wanted) == 0 {
		return all, nil
	}
	var errs []error
	picked := make(map[*diag.Process]bool)
	for _, pattern := range o.wanted {
		found := false
		for _, p := range all {
			if !matches(p, &pattern) {
				continue
			}
			found = true
			if p.Err != nil && !picked[p] {
				errs = append(errs, collect.Unreachable(p))
			}
			picked[p] = true
		}
		if !found {
			errs = append(errs, &collect.ProcessError{Name: string(pattern), Err: diag.ErrNoProcess})
		}
	}
	return slices.DeleteFunc(all, func(p *diag.Process) bool { return !picked[p] }), errors.Join(errs...)
}

// matches reports whether a process has an id, or a name that matches.
func matches(p *diag.Process, pattern *selection.Glob) bool {
	id := cmp.Or(p.PID, p.InnerPID)
	return strconv.Itoa(id) == string(*pattern) || slices.ContainsFunc(p.Names(), pattern.Matches)
}

var processColumns = []text.Column{
	{Heading: "pid"},
	{Heading: "name", Left: true},
	{Heading: "runtime", Left: true},
	{Heading: "arch", Left: true, Rank: 3},
	{Heading: "uptime", Rank: 1},
	{Heading: "GC", Left: true},
	{Heading: "container", Left: true, Rank: 2},
	{Heading: "problem", Left: true},
}

func writeProcessTable(std *stdio, out *output, all []*diag.Process) error {
	t := text.Table{W: out, Columns: processColumns, Width: std.outTerm.Width, Bold: std.outTerm.Colour}
	if !slices.ContainsFunc(all, func(p *diag.Process) bool { return p.Err != nil }) {
		t.Columns = processColumns[:len(processColumns)-1]
	}
	for _, p := range all {
		if err := t.Row(processRow(p)[:len(t.Columns)]); err != nil {
			return err
		}
	}
	return t.Flush()
}

func processRow(p *diag.Process) []string {
	info := cmp.Or(p.Info, &diag.Info{})
	problem := ""
	if p.Err != nil {
		problem = problemOf(p.Err)
	}
	cells := []string{
		collect.ID(p), p.Name, runtimeOf(p), info.Arch, uptime(p.Started), flavour(p.GC), p.Container, problem,
	}
	for i := range cells[:len(cells)-1] {
		cells[i] = cmp.Or(cells[i], units.Unknown)
	}
	return cells
}

// runtimeOf is the runtime of a process; empty if unknown.
func runtimeOf(p *diag.Process) string {
	switch {
	case p.Info != nil && p.Info.RuntimeVersion != "":
		return ".NET " + p.Info.RuntimeVersion
	case errors.Is(p.Err, diag.ErrFramework):
		return strings.TrimSuffix(".NET Framework "+p.Framework, " ")
	}
	return ""
}

// problems are the reasons that need no particulars.
var problems = [...]error{
	diag.ErrNoProcess, diag.ErrNotDotnet, diag.ErrNoSocket, diag.ErrFramework, diag.ErrStopped, diag.ErrNoAnswer, diag.ErrHungUp, fs.ErrPermission,
}

// problemOf returns why a process cannot be reached, in a few words.
func problemOf(err error) string {
	for _, problem := range problems {
		if errors.Is(err, problem) {
			return problem.Error()
		}
	}
	if refused, ok := errors.AsType[*etw.Error](err); ok {
		return etwErrorText(refused)
	}
	if connect, ok := errors.AsType[*diag.ConnectError](err); ok {
		err = connect.Err
	}
	if listen, ok := errors.AsType[*diag.ListenError](err); ok {
		err = listen.Err
	}
	return reason(err)
}

// uptime formats how long a process has run: "42s", "2h3m", "3d4h".
func uptime(started time.Time) string {
	if started.IsZero() {
		return ""
	}
	const day = 24 * time.Hour
	switch d := max(0, time.Since(started)); {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return d.Truncate(time.Second).String()
	}
}

// flavour writes how a collector is set up, as far as it is known.
func flavour(f diag.Flavour) string {
	var words []string
	switch f.Server {
	case diag.On:
		words = append(words, "server")
	case diag.Off:
		words = append(words, "workstation")
	}
	switch f.Concurrent {
	case diag.On:
		words = append(words, "concurrent")
	case diag.Off:
		words = append(words, "not concurrent")
	}
	return strings.Join(words, ", ")
}

// A processLine is a process as a line of JSON, with null for unknown fields.
type processLine struct {
	PID           *int       `json:"pid"`
	InnerPID      int        `json:"namespace_pid"`
	Name          *string    `json:"name"`
	Runtime       *string    `json:"runtime"`
	Arch          *string    `json:"arch"`
	OS            *string    `json:"os"`
	RID           *string    `json:"rid"`
	Started       *time.Time `json:"started"`
	UptimeMS      *int64     `json:"uptime_ms"`
	Server        *bool      `json:"gc_server"`
	Concurrent    *bool      `json:"gc_concurrent"`
	Container     *string    `json:"container"`
	CommandLine   *string    `json:"command_line"`
	EntryAssembly *string    `json:"entry_assembly"`
	Cookie        *string    `json:"cookie"`
	Address       *string    `json:"address"`
	Problem       *string    `json:"problem"`
	Remedy        *string    `json:"remedy"`
}

func writeProcessLines(_ *stdio, out *output, all []*diag.Process) error {
	for _, p := range all {
		if err := jsontext.Encode(out, lineOf(p)); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(p *diag.Process) *processLine {
	l := &processLine{
		PID: jsontext.OrNull(p.PID), InnerPID: p.InnerPID, Name: jsontext.OrNull(p.Name), Container: jsontext.OrNull(p.Container), Address: jsontext.OrNull(p.Address),
		Runtime: jsontext.OrNull(runtimeOf(p)), Server: p.GC.Server.Bool(), Concurrent: p.GC.Concurrent.Bool(),
	}
	if !p.Started.IsZero() {
		started := p.Started.UTC().Truncate(time.Millisecond)
		up := time.Since(started).Milliseconds()
		l.Started, l.UptimeMS = &started, &up
	}
	if i := p.Info; i != nil {
		l.Arch, l.OS, l.RID = jsontext.OrNull(i.Arch), jsontext.OrNull(i.OS), jsontext.OrNull(i.RID)
		l.CommandLine, l.EntryAssembly, l.Cookie = jsontext.OrNull(i.CommandLine), jsontext.OrNull(i.EntryAssembly), jsontext.OrNull(i.Cookie.String())
	}
	if p.Err != nil {
		l.Problem, l.Remedy = jsontext.OrNull(problemOf(p.Err)), jsontext.OrNull(diag.Remedy(p.Err))
	}
	return l
}
