package gc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Opt is a figure that may be unknown. The zero Opt is unknown.
type Opt[T any] struct {
	v     T // the zero value where unknown
	known bool
}

// Some returns a known figure.
func Some[T any](v T) Opt[T] { return Opt[T]{v: v, known: true} }

// SomeIf returns a figure if it is known, as a map or Get returns it, and otherwise the unknown
// one.
func SomeIf[T any](v T, known bool) Opt[T] {
	if !known {
		return Opt[T]{}
	}
	return Some(v)
}

// Get returns the figure, and whether it is known. An unknown figure is the
// zero value.
func (o Opt[T]) Get() (v T, known bool) { return o.v, o.known }

// Known reports whether the figure is known.
func (o Opt[T]) Known() bool { return o.known }

// Or returns the figure, or v if unknown.
func (o Opt[T]) Or(v T) T {
	if o.known {
		return o.v
	}
	return v
}

// String returns the figure as fmt.Sprint spells it, or "-" if unknown.
func (o Opt[T]) String() string {
	if !o.known {
		return "-"
	}
	return fmt.Sprint(o.v)
}

// MarshalJSON returns the figure as JSON, or null if unknown. It does not
// escape HTML, because the encoder that calls it does so if configured.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.known {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(o.v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
