package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/text"
)

// A step is a suggestion to a client: to call a tool, or to run a command in a shell if
// no tool does it.
type step struct {
	Purpose   string         `json:"purpose,omitempty"`
	Tool      string         `json:"tool,omitempty"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Command   string         `json:"command,omitempty"`
}

// An argument makes the argument of a tool from the value of a flag.
type argument struct {
	name string
	of   func(value string) (any, error)
}

var (
	asText   = func(value string) (any, error) { return value, nil }
	asNumber = func(value string) (any, error) { return strconv.Atoi(value) }
	asList   = func(value string) (any, error) { return strings.Split(value, ","), nil }
	asOne    = func(value string) (any, error) { return []string{value}, nil }
	asMillis = func(value string) (any, error) {
		d, err := time.ParseDuration(value)
		return float64(d) / float64(time.Millisecond), err
	}
)

// selects has the flags of a selection.
var selects = map[string]argument{
	"--pid": {"pid", asNumber}, "--process": {"process", asText}, "--from": {"from", asText}, "--to": {"to", asText},
}

// callable maps commands to tools, with the flags that a report suggests.
var callable = map[string]struct {
	tool  string
	list  string // of objects
	flags map[string]argument
}{
	"report":     {tool: "triage", flags: map[string]argument{"--explain": {"explain", asText}}},
	"allocs":     {tool: "allocations", flags: map[string]argument{"--by": {"by", asText}}},
	"objects":    {tool: "objects", list: "objects", flags: map[string]argument{"--by": {"by", asText}, "--type": {"type", asText}}},
	"pins":       {tool: "objects", list: "pins"},
	"handles":    {tool: "objects", list: "handles", flags: map[string]argument{"--by": {"by", asText}}},
	"finalizers": {tool: "objects", list: "finalizers"},
	"heap":       {tool: "objects", list: "heap"},
	"joins":      {tool: "objects", list: "joins"},
	"events":     {tool: "objects", list: "events", flags: map[string]argument{"--limit": {"limit", asNumber}}},
	"ps":         {tool: "processes"},
	"what-if":    {tool: "what_if", flags: map[string]argument{"--set": {"set", asOne}}},
	"gcs": {tool: "collections", flags: map[string]argument{
		"--gen": {"generation", asNumber}, "--kind": {"kind", asText}, "--reason": {"reason", asText},
		"--min-pause": {"min_pause_ms", asMillis}, "--columns": {"columns", asList},
	}},
}

// stepOf returns the step for a command that a report suggests.
func stepOf(r *root, purpose, command string) step {
	shell := step{Purpose: purpose, Command: command}
	words := text.Words(command)
	if len(words) < 2 || words[0] != "gctrail" {
		return shell
	}
	of, known := callable[words[1]]
	if !known {
		return shell
	}
	c := step{Purpose: purpose, Tool: of.tool, Arguments: map[string]any{}}
	if of.list != "" {
		c.Arguments["list"] = of.list
	}
	words = words[2:]
	for len(words) > 1 && strings.HasPrefix(words[0], "--") {
		flag, value := words[0], words[1]
		words = words[2:]
		if flag == "--format" {
			continue
		}
		arg, known := of.flags[flag]
		if !known {
			arg, known = selects[flag]
		}
		if !known {
			return shell
		}
		v, err := arg.of(value)
		if err != nil {
			return shell
		}
		if earlier, repeated := c.Arguments[arg.name].([]string); repeated {
			v = append(earlier, v.([]string)...)
		}
		c.Arguments[arg.name] = v
	}
	switch {
	case len(words) > 1 || len(words) == 1 && strings.HasPrefix(words[0], "--"):
		return shell
	case len(words) == 1:
		c.Arguments["file"] = r.relative(words[0])
	}
	return c
}

// withCalls replaces the commands of a triage by calls. It leaves out the call that the
// client has just made.
func withCalls(r *root, made triageInput, report string) (string, error) {
	var o object
	if err := json.Unmarshal([]byte(report), &o); err != nil {
		return "", err
	}
	repeats := func(s step) bool { return s.Tool == "triage" && maps.Equal(s.Arguments, made.arguments(r)) }
	err := o.replace("next", func(value json.RawMessage) (json.RawMessage, error) {
		var commands []string
		if err := json.Unmarshal(value, &commands); err != nil {
			return nil, err
		}
		calls := text.Each(commands, func(command *string) step { return stepOf(r, "", *command) })
		return encoded(slices.DeleteFunc(calls, repeats))
	})
	if err != nil {
		return "", err
	}
	err = o.replace("processes", func(processes json.RawMessage) (json.RawMessage, error) {
		return eachOf(processes, func(process object) error {
			return process.replace("findings", func(findings json.RawMessage) (json.RawMessage, error) {
				return eachOf(findings, func(finding object) error { return finding.replace("next", stepsWithCalls(r)) })
			})
		})
	})
	if err != nil {
		return "", err
	}
	result, err := encoded(o)
	return string(result) + "\n", err
}

// stepsWithCalls returns a function that replaces the commands of the next steps of a
// finding.
func stepsWithCalls(r *root) func(json.RawMessage) (json.RawMessage, error) {
	return func(value json.RawMessage) (json.RawMessage, error) {
		var steps []step
		if err := json.Unmarshal(value, &steps); err != nil {
			return nil, err
		}
		return encoded(text.Each(steps, func(s *step) step { return stepOf(r, s.Purpose, s.Command) }))
	}
}

// arguments returns the arguments of a triage as stepOf does.
func (in triageInput) arguments(r *root) map[string]any {
	all := map[string]any{"process": in.Process, "from": in.From, "to": in.To}
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == "" })
	if in.PID != 0 {
		all["pid"] = in.PID
	}
	if path, err := r.resolve(in.File); err == nil {
		all["file"] = r.relative(path)
	}
	return all
}
