package jsonl

import (
	"strconv"
	"time"

	"github.com/gctrail/gctrail/export/internal/millis"
	"github.com/gctrail/gctrail/gc"
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

func (w *writer) int(key string, v int64) {
	w.key(key)
	w.dst = strconv.AppendInt(w.dst, v, 10)
}

func (w *writer) optInt(key string, v gc.Opt[int]) {
	w.key(key)
	if n, ok := v.Get(); ok {
		w.dst = strconv.AppendInt(w.dst, int64(n), 10)
	} else {
		w.null()
	}
}

func (w *writer) optInt64(key string, v gc.Opt[int64]) {
	w.key(key)
	if n, ok := v.Get(); ok {
		w.dst = strconv.AppendInt(w.dst, n, 10)
	} else {
		w.null()
	}
}

func (w *writer) optFloat(key string, v gc.Opt[float64]) {
	w.key(key)
	if f, ok := v.Get(); ok {
		w.dst = appendFloat(w.dst, f)
	} else {
		w.null()
	}
}

func (w *writer) bool(key string, v bool) {
	w.key(key)
	w.dst = strconv.AppendBool(w.dst, v)
}

func (w *writer) optBool(key string, v gc.Opt[bool]) {
	w.key(key)
	if b, ok := v.Get(); ok {
		w.dst = strconv.AppendBool(w.dst, b)
	} else {
		w.null()
	}
}

func (w *writer) ms(key string, v time.Duration) {
	w.key(key)
	w.dst = millis.Append(w.dst, v)
}

func (w *writer) optMS(key string, v gc.Opt[time.Duration]) {
	w.key(key)
	if d, ok := v.Get(); ok {
		w.dst = millis.Append(w.dst, d)
	} else {
		w.null()
	}
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

// words writes the names of the bits of set, in the order of bits.
func (w *writer) words(key string, names *[32]string, set uint32) {
	w.key(key)
	w.dst = append(w.dst, '[')
	empty := true
	for bit, name := range names {
		if set>>bit&1 == 0 || name == "" {
			continue
		}
		if !empty {
			w.dst = append(w.dst, ',')
		}
		w.dst = jsontext.AppendString(w.dst, name)
		empty = false
	}
	w.dst = append(w.dst, ']')
}

func appendFloat(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}
