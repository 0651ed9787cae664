package tsdl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/gctrail/gctrail/internal/binread"
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
		case err != nil:
			err = binread.Malformed("%v", err)
		case n == 1 && f.Type != "preamble":
			err = binread.Malformed("JSON without a preamble")
		default:
			err = p.fragment(&f)
		}
		if err != nil {
			err = &SyntaxError{Line: n, Err: err}
			if n == 1 || errors.Is(err, trace.ErrUnsupported) {
				return nil, err
			}
			return p.trace, err
		}
		text = text[dec.InputOffset():]
	}
}

func (p *jsonParser) fragment(f *fragment) error {
	if len(f.Extensions) > 0 {
		return fmt.Errorf("%w: extensions", trace.ErrUnsupportedVersion)
	}
	switch f.Type {
	case "preamble":
		return p.preamble(f)
	case "trace-class":
		return p.traceClass(f)
	case "clock-class":
		return p.clockClass(f)
	case "data-stream-class":
		return p.streamClass(f)
	case "event-record-class":
		return p.eventClass(f)
	case "field-class-alias":
		t, err := p.class(f.FieldClass)
		p.aliases[f.Name] = t
		return err
	}
	return binread.Malformed("fragment of type %.40q", f.Type)
}

func (p *jsonParser) preamble(f *fragment) error {
	if f.Version == nil || *f.Version != 2 {
		return fmt.Errorf("%w of CTF", trace.ErrUnsupportedVersion)
	}
	if len(f.UUID) == len(p.trace.UUID) {
		for i, b := range f.UUID {
			p.trace.UUID[i] = byte(b)
		}
	}
	return nil
}

func (p *jsonParser) traceClass(f *fragment) (err error) {
	for key, v := range f.Environment {
		text, ok := v.(string)
		if n, is := v.(float64); is {
			text, ok = strconv.FormatFloat(n, 'f', -1, 64), true
		}
		if ok {
			p.trace.Env[key] = text
		}
	}
	p.trace.PacketHeader, err = p.class(f.PacketHeader)
	return err
}

func (p *jsonParser) clockClass(f *fragment) error {
	if f.Frequency == nil {
		return binread.Malformed("clock without a frequency")
	}
	c := &Clock{Name: f.Name, Frequency: *f.Frequency, Seconds: f.Offset.Seconds, Cycles: f.Offset.Cycles}
	var id string
	if json.Unmarshal(f.ID, &id) == nil {
		c.Name = id
	}
	p.clocks[c.Name] = c
	return p.addClock(c)
}

func (p *jsonParser) streamClass(f *fragment) error {
	s := Stream{}
	id, err := f.number()
	if err != nil {
		return err
	}
	s.ID = id
	for _, name := range []string{f.DefaultClock, f.ClockName} {
		if name == "" {
			continue
		}
		if s.Clock = p.clocks[name]; s.Clock == nil {
			return binread.Malformed("clock %.40q is not defined", name)
		}
	}
	for _, c := range []struct {
		ref *classRef
		to  **Type
	}{
		{f.PacketContext, &s.PacketContext},
		{f.EventHeader, &s.EventHeader},
		{f.StreamContext, &s.EventContext},
	} {
		if *c.to, err = p.class(c.ref); err != nil {
			return err
		}
	}
	return p.addStream(s)
}

func (p *jsonParser) eventClass(f *fragment) error {
	e := &Event{Name: f.Name}
	var err error
	if e.ID, err = f.number(); err != nil {
		return err
	}
	if e.Context, err = p.class(f.EventContext); err != nil {
		return err
	}
	if e.Payload, err = p.class(f.Payload); err != nil {
		return err
	}
	return p.addEvent(f.Stream, e)
}

// number returns the id of a fragment, 0 if it has none.
func (f *fragment) number() (uint64, error) {
	if len(f.ID) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(f.ID), 10, 64)
	if err != nil {
		return 0, binread.Malformed("id %.40s", f.ID)
	}
	return n, nil
}
