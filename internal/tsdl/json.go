package tsdl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/gctrail/gctrail/trace"
)

// A fragment is one JSON text of CTF 2 metadata, whatever its type.
type fragment struct {
	Type       string                     `json:"type"`
	Extensions map[string]json.RawMessage `json:"extensions"`

	Version *uint64 `json:"version"` // preamble
	UUID    []int   `json:"uuid"`

	Environment  map[string]any `json:"environment"` // trace class
	PacketHeader *classRef      `json:"packet-header-field-class"`

	Name      string          `json:"name"` // of aliases, clocks and events
	ID        json.RawMessage `json:"id"`
	Frequency *uint64         `json:"frequency"`
	Offset    struct {
		Seconds int64 `json:"seconds"`
		Cycles  int64 `json:"cycles"`
	} `json:"offset-from-origin"`

	DefaultClock  string    `json:"default-clock-class-id"` // data stream class
	ClockName     string    `json:"default-clock-class-name"`
	PacketContext *classRef `json:"packet-context-field-class"`
	EventHeader   *classRef `json:"event-record-header-field-class"`
	StreamContext *classRef `json:"event-record-common-context-field-class"`

	Stream       uint64    `json:"data-stream-class-id"` // event record class
	EventContext *classRef `json:"specific-context-field-class"`
	Payload      *classRef `json:"payload-field-class"`

	FieldClass *classRef `json:"field-class"` // alias
}

// A jsonParser reads the metadata of CTF 2.
type jsonParser struct {
	builder
	aliases map[string]*Type
	clocks  map[string]*Clock
}

func parseJSON(text []byte) (*Trace, error) {
	p := &jsonParser{aliases: map[string]*Type{}, clocks: map[string]*Clock{}}
	p.trace = &Trace{Major: 2, Env: map[string]string{}}
	for n := 1; ; n++ {
		text = bytes.TrimLeft(text, "\x1e \t\r\n")
		if len(text) == 0 {
			return p.trace, nil
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		var f fragment
		err := dec.Decode(&f)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			p.fail(err)
		case err != nil:
			p.malformed("%v", err)
		case n == 1 && f.Type != "preamble":
			p.malformed("JSON without a preamble")
		default:
			p.fragment(&f)
		}
		if p.err != nil {
			return p.result(n, n > 1)
		}
		text = text[dec.InputOffset():]
	}
}

func (p *jsonParser) fragment(f *fragment) {
	if len(f.Extensions) > 0 {
		p.fail(fmt.Errorf("%w: extensions", trace.ErrUnsupportedVersion))
		return
	}
	switch f.Type {
	case "preamble":
		p.preamble(f)
	case "trace-class":
		p.traceClass(f)
	case "clock-class":
		p.clockClass(f)
	case "data-stream-class":
		p.streamClass(f)
	case "event-record-class":
		p.addEvent(f.Stream, &Event{ID: p.id(f), Name: f.Name, Context: p.class(f.EventContext), Payload: p.class(f.Payload)})
	case "field-class-alias":
		p.aliases[f.Name] = p.class(f.FieldClass)
	default:
		p.malformed("fragment of type %.40q", f.Type)
	}
}

func (p *jsonParser) preamble(f *fragment) {
	if f.Version == nil || *f.Version != 2 {
		p.fail(fmt.Errorf("%w of CTF", trace.ErrUnsupportedVersion))
		return
	}
	if len(f.UUID) == len(p.trace.UUID) {
		for i, b := range f.UUID {
			p.trace.UUID[i] = byte(b)
		}
	}
}

func (p *jsonParser) traceClass(f *fragment) {
	for key, v := range f.Environment {
		switch v := v.(type) {
		case string:
			p.trace.Env[key] = v
		case float64:
			p.trace.Env[key] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	if t := p.class(f.PacketHeader); p.err == nil {
		p.trace.PacketHeader = t
	}
}

func (p *jsonParser) clockClass(f *fragment) {
	c := &Clock{Name: f.Name, Seconds: f.Offset.Seconds, Cycles: f.Offset.Cycles}
	if f.Frequency != nil {
		c.Frequency = *f.Frequency
	}
	var id string
	if json.Unmarshal(f.ID, &id) == nil {
		c.Name = id
	}
	p.clocks[c.Name] = c
	p.addClock(c)
}

func (p *jsonParser) streamClass(f *fragment) {
	s := Stream{ID: p.id(f)}
	for _, name := range []string{f.DefaultClock, f.ClockName} {
		if name == "" {
			continue
		}
		if s.Clock = p.clocks[name]; s.Clock == nil {
			p.malformed("clock %.40q is not defined", name)
		}
	}
	s.PacketContext, s.EventHeader, s.EventContext = p.class(f.PacketContext), p.class(f.EventHeader), p.class(f.StreamContext)
	p.addStream(s)
}

// id returns the id of a fragment, 0 if it has none.
func (p *jsonParser) id(f *fragment) uint64 {
	if len(f.ID) == 0 {
		return 0
	}
	n, err := strconv.ParseUint(string(f.ID), 10, 64)
	if err != nil {
		p.malformed("id %.40s", f.ID)
	}
	return n
}
