package gc

// An Opt is a figure that may be unknown. The zero Opt is unknown.
type Opt[T any] struct {
	V     T // the zero value where unknown
	Known bool
}

// Some is a known figure.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Known: true} }
