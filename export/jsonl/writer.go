package jsonl

import (
	"strconv"

	"github.com/gctrail/gctrail/internal/jsontext"
)

// A writer appends the members of JSON objects, with null for what is unknown.
type writer struct{ dst []byte }

// key begins a member; the first of an object has no comma before it.
func (w *writer) key(name string) {
	if last := w.dst[len(w.dst)-1]; last != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(append(append(w.dst, '"'), name...), `":`...)
}

func (w *writer) null() { w.dst = append(w.dst, "null"...) }

func (w *writer) uint(key string, v uint64) {
	w.key(key)
	w.dst = strconv.AppendUint(w.dst, v, 10)
}

// text writes a string; none is null.
func (w *writer) text(key, s string) {
	w.key(key)
	if s == "" {
		w.null()
		return
	}
	w.dst = jsontext.AppendString(w.dst, s)
}

func appendFloat(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}
