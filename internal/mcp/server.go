// Package mcp serves gctrail's commands to coding agents by the Model Context Protocol:
// a few tools with small results, in the words of the commands.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gctrail/gctrail/internal/text"
)

// A Command runs gctrail with some arguments and returns its exit code.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// Options say what a server may do.
type Options struct {
	Version      string
	Root         string // the folder outside which no path is read or written
	AllowCollect bool   // processes may be traced
}

// A Server serves tools that run a Command.
type Server struct {
	root    *root
	command Command
	sdk     *sdk.Server
}

const instructions = `gctrail reads .NET garbage collection traces (.nettrace, .etl, LTTng). Start with triage; its findings name collections by number, which collections lists. ` +
	`Paths are relative to the server's root. A result that is too large ends with the path of a file that has all of it.`

// New returns a server. It fails if Options.Root is not a folder it can use.
func New(o Options, command Command) (*Server, error) {
	dir, err := openRoot(o.Root)
	if err != nil {
		return nil, err
	}
	s := &Server{root: dir, command: command}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "gctrail", Version: o.Version}, &sdk.ServerOptions{Instructions: instructions})
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	add(s, &sdk.Tool{Name: "triage", Annotations: reads, Description: "Analyze a trace: verdict, key figures, findings with evidence and collection numbers, next commands."}, triage)
	add(s, &sdk.Tool{Name: "collections", Annotations: reads, Description: "List garbage collections of a trace as JSON lines, with filters."}, collections)
	add(s, &sdk.Tool{Name: "allocations", Annotations: reads, Description: "List what was allocated, by type, stack or method, as JSON lines."}, allocations)
	add(s, &sdk.Tool{Name: "compare", Annotations: reads, Description: "Compare runs, each one a trace; five or more runs per side separate change from noise."}, compare)
	if o.AllowCollect {
		add(s, &sdk.Tool{Name: "collect", Description: "Trace a running .NET process for some seconds into a file of the root; returns its verdict and path."}, collect)
	}
	return s, nil
}

// Serve serves one client on a pair of streams until it leaves or ctx ends.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.serve(ctx, &sdk.IOTransport{Reader: in, Writer: out})
}

func (s *Server) serve(ctx context.Context, transport sdk.Transport) error {
	err := s.sdk.Run(ctx, transport)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// add adds a tool: a function that makes the command line of its input.
func add[In any](s *Server, tool *sdk.Tool, line func(*root, In) ([]string, error)) {
	sdk.AddTool(s.sdk, tool, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		args, err := line(s.root, in)
		if err != nil {
			return nil, nil, errors.New(text.Clean(err.Error()))
		}
		return s.run(ctx, tool.Name, args)
	})
}

// run runs a command and returns what it wrote.
func (s *Server) run(ctx context.Context, name string, args []string) (*sdk.CallToolResult, any, error) {
	out := &spill{root: s.root, name: name, limit: MaxResult - maxNotes - maxTrailer}
	notes := &head{limit: maxNotes}
	code := s.command(ctx, args, out, notes)
	rows, err := out.result()
	if err != nil {
		return nil, nil, err
	}
	result := &sdk.CallToolResult{IsError: code != 0, Content: []sdk.Content{&sdk.TextContent{Text: rows}}}
	if said := strings.TrimSpace(notes.String()); said != "" {
		result.Content = append(result.Content, &sdk.TextContent{Text: said})
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return result, nil, nil
}

// A selection narrows a trace, as the commands' flags do.
type selection struct {
	Process string `json:"process,omitempty" jsonschema:"only processes whose name matches, as in web*"`
	PID     uint64 `json:"pid,omitempty" jsonschema:"only the process with this id"`
	From    string `json:"from,omitempty" jsonschema:"only from this time on: 1.5s from the start, or an RFC 3339 time"`
	To      string `json:"to,omitempty" jsonschema:"only before this time"`
}

func (s *selection) flags() []string {
	var flags []string
	flags = option(flags, "process", s.Process)
	flags = option(flags, "from", s.From)
	flags = option(flags, "to", s.To)
	if s.PID != 0 {
		flags = option(flags, "pid", strconv.FormatUint(s.PID, 10))
	}
	return flags
}

// option appends a flag with its value, joined by =, so that the value cannot be taken
// for a flag.
func option(flags []string, name, value string) []string {
	if value == "" {
		return flags
	}
	return append(flags, "--"+name+"="+value)
}

// on appends paths of the root after the flags.
func on(r *root, flags []string, paths ...string) ([]string, error) {
	for _, path := range paths {
		resolved, err := r.resolve(path)
		if err != nil {
			return nil, err
		}
		flags = append(flags, resolved)
	}
	return flags, nil
}

type triageInput struct {
	File string `json:"file" jsonschema:"the trace"`
	selection
}

func triage(r *root, in triageInput) ([]string, error) {
	return on(r, append([]string{"report", "--format=json"}, in.flags()...), in.File)
}

type collectionsInput struct {
	File       string  `json:"file" jsonschema:"the trace"`
	Generation *int    `json:"generation,omitempty" jsonschema:"only collections of this generation: 0, 1 or 2"`
	Kind       string  `json:"kind,omitempty" jsonschema:"only blocking, background or foreground collections"`
	Reason     string  `json:"reason,omitempty" jsonschema:"only collections for this reason, as in AllocLarge"`
	MinPause   float64 `json:"min_pause_ms,omitempty" jsonschema:"only collections that paused the program at least this long"`
	selection
}

func collections(r *root, in collectionsInput) ([]string, error) {
	flags := append([]string{"gcs", "--format=jsonl"}, in.flags()...)
	if in.Generation != nil {
		flags = option(flags, "gen", strconv.Itoa(*in.Generation))
	}
	flags = option(flags, "kind", in.Kind)
	flags = option(flags, "reason", in.Reason)
	if in.MinPause != 0 {
		flags = option(flags, "min-pause", fmt.Sprintf("%gms", in.MinPause))
	}
	return on(r, flags, in.File)
}

type allocationsInput struct {
	File string `json:"file" jsonschema:"the trace"`
	By   string `json:"by,omitempty" jsonschema:"type (default), stack, type,stack, method or heap"`
	Top  int    `json:"top,omitempty" jsonschema:"only this many rows, the largest (default 20)"`
	selection
}

func allocations(r *root, in allocationsInput) ([]string, error) {
	flags := append([]string{"allocs", "--format=jsonl"}, in.flags()...)
	flags = option(flags, "by", in.By)
	if in.Top == 0 {
		in.Top = 20
	}
	return on(r, option(flags, "top", strconv.Itoa(in.Top)), in.File)
}

type compareInput struct {
	Before []string  `json:"before" jsonschema:"traces of the runs before, or folders of them"`
	After  []string  `json:"after" jsonschema:"traces of the runs after, or folders of them"`
	Work   []float64 `json:"work,omitempty" jsonschema:"the amount of work of each run, those before first: totals are then compared per unit of work"`
	selection
}

func compare(r *root, in compareInput) ([]string, error) {
	work := make([]string, len(in.Work))
	for i, amount := range in.Work {
		work[i] = strconv.FormatFloat(amount, 'g', -1, 64)
	}
	flags := option(append([]string{"diff", "--format=json"}, in.flags()...), "work", strings.Join(work, ","))
	line, err := on(r, flags, in.Before...)
	if err != nil {
		return nil, err
	}
	return on(r, append(line, "--"), in.After...)
}

const maxSeconds = 3600

type collectInput struct {
	PID     int    `json:"pid" jsonschema:"the process"`
	Seconds int    `json:"seconds" jsonschema:"how long, at most 3600"`
	Profile string `json:"profile,omitempty" jsonschema:"gc-collect (default), gc-alloc or gc-verbose, which costs more"`
}

func collect(r *root, in collectInput) ([]string, error) {
	switch {
	case in.PID <= 0:
		return nil, errors.New("pid is not a process id")
	case in.Seconds <= 0 || in.Seconds > maxSeconds:
		return nil, fmt.Errorf("seconds is from 1 to %d", maxSeconds)
	}
	file := r.unused(fmt.Sprintf("collect-%d", in.PID), ".nettrace")
	line := []string{"collect", "-p", strconv.Itoa(in.PID), fmt.Sprintf("--duration=%ds", in.Seconds), "-o", file}
	return option(line, "profile", in.Profile), nil
}
