package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/trace"
)

// A StoppingEvent is an event that ends a trace, selected by the same three options as in
// dotnet-trace (EventMonitor.cs): the first event of a provider, with a name if one is given,
// whose fields have the given values.
type StoppingEvent struct {
	Provider string
	Name     string // empty for any
	Filter   PayloadFilter
}

func (e *StoppingEvent) String() string {
	text := e.Provider
	if e.Name != "" {
		text += "/" + e.Name
	}
	for _, f := range e.Filter {
		text += " with " + f.name + ":" + f.value
	}
	return text
}

// wants reports whether events of a kind can be the stopping event.
func (e *StoppingEvent) wants(d *trace.Descriptor) bool {
	if !strings.EqualFold(d.Provider, e.Provider) {
		return false
	}
	var events jsonl.Events
	return e.Name == "" || plainName(events.Name(d)) == plainName(e.Name)
}

// plainName returns the common form of an event's names in the runtime's manifest and in
// TraceEvent: GCSuspendEEBegin_V1 and GC/SuspendEEStart give the same.
func plainName(name string) string {
	if i := strings.LastIndex(name, "_V"); i > 0 && strings.Trim(name[i+2:], "0123456789") == "" {
		name = name[:i]
	}
	name = strings.ReplaceAll(name, "/", "")
	if s, ok := strings.CutSuffix(name, "Begin"); ok {
		return s + "Start"
	}
	if s, ok := strings.CutSuffix(name, "End"); ok {
		return s + "Stop"
	}
	return name
}

// A PayloadFilter is a flag with values of fields, in dotnet-trace's syntax.
type PayloadFilter []fieldValue

type fieldValue struct{ name, value string }

func (f *PayloadFilter) Type() string { return "FILTER" }

func (f *PayloadFilter) String() string { return "" }

func (f *PayloadFilter) Set(s string) error {
	for pair := range strings.SplitSeq(s, ",") {
		name, value, found := strings.Cut(pair, ":")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			return fmt.Errorf("%q is not a field and its value: use NAME:VALUE", pair)
		}
		if slices.ContainsFunc(*f, func(other fieldValue) bool { return other.name == name }) {
			return fmt.Errorf("field %s is given twice: give one value", name)
		}
		*f = append(*f, fieldValue{name, strings.TrimSpace(value)})
	}
	return nil
}

// errNoField reports that a stopping event lacks a requested field.
var errNoField = errors.New("it has no field")

// matches reports whether an event of the stopping kind has the requested values. It
// compares them as text; an enum matches by its word or its number.
func (f PayloadFilter) matches(ev *trace.Event) (bool, error) {
	if len(f) == 0 {
		return true, nil
	}
	var line struct {
		Fields map[string]any    `json:"fields"`
		Texts  map[string]string `json:"fields_text"`
	}
	var events jsonl.Events
	d := json.NewDecoder(strings.NewReader(string(events.AppendEvent(nil, ev))))
	d.UseNumber()
	if err := d.Decode(&line); err != nil {
		return false, err
	}
	for _, want := range f {
		v, ok := line.Fields[want.name]
		if !ok {
			return false, fmt.Errorf("%w %s; its fields: %s", errNoField, want.name, strings.Join(slices.Sorted(maps.Keys(line.Fields)), ", "))
		}
		if !sameValue(v, line.Texts[want.name], want.value) {
			return false, nil
		}
	}
	return true, nil
}

// sameValue reports whether a field has a value; word is the enum's word.
func sameValue(v any, word, want string) bool {
	text := fmt.Sprint(v)
	if _, is := v.(bool); is {
		return strings.EqualFold(text, want)
	}
	return text == want || word != "" && word == want
}
