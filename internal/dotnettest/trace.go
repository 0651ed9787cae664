package dotnettest

import (
	"bytes"
	"os"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
)

// Collections returns the collections in a trace, and the reader that has read it
// to its end.
func Collections(t testing.TB, trace []byte) ([]*gc.Collection, *nettrace.Reader) {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(trace), nettrace.Options{Want: gc.Wants})
	var m gc.Model
	var all []*gc.Collection
	for c, err := range m.Collections(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all, r
}

// MustEnd checks that a trace has its end mark and no damage, and returns the
// collections in it.
func MustEnd(t testing.TB, trace []byte) []*gc.Collection {
	t.Helper()
	all, r := Collections(t, trace)
	if size, end := r.Whole(); end != nil || size != int64(len(trace)) || r.Loss().Damaged > 0 {
		t.Errorf("%d of %d bytes are whole, end %v, %d places are damaged", size, len(trace), end, r.Loss().Damaged)
	}
	return all
}

// MustEndFile is MustEnd for a file.
func MustEndFile(t testing.TB, path string) []*gc.Collection {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return MustEnd(t, b)
}

// Whole returns how much of a trace is whole objects.
func Whole(trace []byte) int {
	r := nettrace.NewReader(bytes.NewReader(trace), nettrace.Options{Want: gc.Wants})
	for _, err := range r.Events() {
		if err != nil {
			break // of a head, which may be too short
		}
	}
	whole, _ := r.Whole()
	return int(whole)
}
