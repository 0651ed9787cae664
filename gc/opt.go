package gc

import (
	"encoding/json"
	"fmt"
)

// An Opt is a figure that may be unknown. The zero Opt is unknown.
type Opt[T any] struct {
	V     T // the zero value where unknown
	Known bool
}

// Some returns a known figure.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Known: true} }

// Get returns the figure, and whether it is known.
func (o Opt[T]) Get() (v T, known bool) { return o.V, o.Known }

// Or returns the figure, or v where it is unknown.
func (o Opt[T]) Or(v T) T {
	if o.Known {
		return o.V
	}
	return v
}

// String returns the figure as fmt.Sprint spells it, or "-" where it is unknown.
func (o Opt[T]) String() string {
	if !o.Known {
		return "-"
	}
	return fmt.Sprint(o.V)
}

// MarshalJSON returns the figure as JSON, or null where it is unknown.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Known {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}
