package mcp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gctrail/gctrail/internal/text"
)

// A request is the input of a tool.
type request interface {
	line(*root) ([]string, error)                          // of the command that does it
	page() paging                                          // of its result
	shown(r *root, output string) (result string, _ error) // for the client
}

func (s *Server) addTools(collects bool) {
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	add[triageInput](s, &sdk.Tool{Name: "triage", Annotations: reads, Description: "Analyze a trace: verdict, key figures, findings with evidence and collection numbers, next calls."})
	add[collectionsInput](s, &sdk.Tool{Name: "collections", Annotations: reads, Description: "List garbage collections of a trace as JSON lines."})
	add[allocationsInput](s, &sdk.Tool{Name: "allocations", Annotations: reads, Description: "List what was allocated, as JSON lines."})
	add[objectsInput](s, &sdk.Tool{Name: "objects", Annotations: reads, Description: "List as JSON lines: objects in heap snapshots, pins, finalizers, GC handles, the heap after each collection, joins of heaps, raw events."})
	add[compareInput](s, &sdk.Tool{Name: "compare", Annotations: reads, Description: "Compare runs, each one a trace; five or more per side separate change from noise."})
	add[whatIfInput](s, &sdk.Tool{Name: "what_if", Annotations: reads, Description: "Bound what settings would change."})
	add[processesInput](s, &sdk.Tool{Name: "processes", Annotations: reads, Description: "List the .NET processes of this machine."})
	if collects {
		add[collectInput](s, &sdk.Tool{Name: "collect", Description: "Trace a running .NET process into a file of the root; returns its verdict and path."})
	}
}

// A selection narrows a trace, as the commands' flags do.
type selection struct {
	Process string `json:"process,omitempty" jsonschema:"as in web*"`
	PID     int    `json:"pid,omitempty"`
	From    string `json:"from,omitempty" jsonschema:"as in 1.5s"`
	To      string `json:"to,omitempty"`
}

func (s *selection) flags() []string {
	var flags []string
	flags = option(flags, "process", s.Process)
	flags = option(flags, "from", s.From)
	flags = option(flags, "to", s.To)
	if s.PID != 0 {
		flags = option(flags, "pid", strconv.Itoa(s.PID))
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

// plain is the part of a request whose result is the output of the command.
type plain struct{}

func (plain) shown(_ *root, output string) (string, error) { return output, nil }

// whole is the part of a request whose result has no rows.
type whole struct{}

func (whole) page() paging { return paging{} }

func (p paging) page() paging { return p }

type triageInput struct {
	whole
	File    string `json:"file,omitempty"`
	Explain string `json:"explain,omitempty" jsonschema:"defines a term such as pause or R24, without a file"`
	selection
}

func (in triageInput) line(r *root) ([]string, error) {
	switch in.Explain {
	case "":
	case "all":
		return nil, errors.New("explain takes one term")
	default:
		return option([]string{"report"}, "explain", in.Explain), nil
	}
	return on(r, append([]string{"report", "--format=json"}, in.flags()...), in.File)
}

func (in triageInput) shown(r *root, output string) (string, error) {
	if in.Explain != "" {
		return output, nil
	}
	return withCalls(r, in, output)
}

type collectionsInput struct {
	plain
	File       string  `json:"file"`
	Generation *int    `json:"generation,omitempty"`
	Kind       string  `json:"kind,omitempty" jsonschema:"blocking, background or foreground"`
	Reason     string  `json:"reason,omitempty" jsonschema:"as in AllocLarge"`
	MinPause   float64 `json:"min_pause_ms,omitempty"`
	selection
	paging
}

func (in collectionsInput) line(r *root) ([]string, error) {
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
	plain
	File string `json:"file"`
	By   string `json:"by,omitempty" jsonschema:"type (default), stack, type,stack, method or heap"`
	selection
	paging
}

func (in allocationsInput) line(r *root) ([]string, error) {
	flags := append([]string{"allocs", "--format=jsonl"}, in.flags()...)
	return on(r, option(flags, "by", in.By), in.File)
}

type objectsInput struct {
	plain
	File string `json:"file"`
	List string `json:"list" jsonschema:"objects, pins, handles, finalizers, heap, joins or events"`
	By   string `json:"by,omitempty" jsonschema:"of handles: kind,stack; of objects: type (default), module, generation, root, dominator, path or growth"`
	Type string `json:"type,omitempty" jsonschema:"of objects, as in Shop.*"`
	selection
	paging
}

// grownTypes is how many types of each snapshot, and of what grew between them, are shown.
const grownTypes = 5

func (in objectsInput) line(r *root) ([]string, error) {
	if callable[in.List].list == "" {
		return nil, fmt.Errorf("list is objects, pins, handles, finalizers, heap, joins or events, not %q", in.List)
	}
	if in.By != "" && in.List != "handles" && in.List != "objects" {
		return nil, errors.New("by is for objects and handles only")
	}
	if in.Type != "" && in.List != "objects" {
		return nil, errors.New("type is for objects only")
	}
	flags := append([]string{in.List, "--format=jsonl"}, in.flags()...)
	if in.List == "objects" && in.By == "growth" {
		flags[1], in.By = "--format=json", ""
		flags = option(flags, "top", strconv.Itoa(grownTypes))
	}
	return on(r, option(option(flags, "by", in.By), "type", in.Type), in.File)
}

type compareInput struct {
	plain
	whole
	Before []string  `json:"before" jsonschema:"traces, or folders of them"`
	After  []string  `json:"after"`
	Work   []float64 `json:"work,omitempty" jsonschema:"work of each run, those before first: totals are then compared per unit of work"`
	selection
}

func (in compareInput) line(r *root) ([]string, error) {
	work := text.Each(in.Work, func(amount *float64) string { return strconv.FormatFloat(*amount, 'g', -1, 64) })
	flags := option(append([]string{"diff", "--format=json"}, in.flags()...), "work", strings.Join(work, ","))
	line, err := on(r, flags, in.Before...)
	if err != nil {
		return nil, err
	}
	return on(r, append(line, "--"), in.After...)
}

type whatIfInput struct {
	plain
	whole
	File    string   `json:"file"`
	Set     []string `json:"set" jsonschema:"as in GCgen0size=64M"`
	Process string   `json:"process,omitempty"`
}

func (in whatIfInput) line(r *root) ([]string, error) {
	flags := option([]string{"what-if", "--format=json"}, "process", in.Process)
	for _, set := range in.Set {
		flags = option(flags, "set", set)
	}
	return on(r, flags, in.File)
}

type processesInput struct {
	plain
	paging
}

func (processesInput) line(*root) ([]string, error) { return []string{"ps", "--format=jsonl"}, nil }

const maxSeconds = 3600

type collectInput struct {
	plain
	whole
	PID     int    `json:"pid"`
	Seconds int    `json:"seconds" jsonschema:"at most 3600"`
	Profile string `json:"profile,omitempty" jsonschema:"gc-collect (default), gc-alloc or gc-verbose, which costs more"`
}

func (in collectInput) line(r *root) ([]string, error) {
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
