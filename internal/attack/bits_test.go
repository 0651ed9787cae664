package attack

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
)

// flipped returns the bits of an undamaged trace that are flipped.
func (s *seed) flipped(tb testing.TB) []bit {
	if extent.Pick(false, false, true) {
		return bits(whole(tb, s.data))
	}
	list := sampled(s.headers(tb, s.data))
	some := make([]bit, min(len(list), extent.Pick(100, len(list), 0)))
	for i := range some {
		some[i] = list[i*len(list)/len(some)]
	}
	return extent.Share(some, 7) // an eighth would be the same bit of each byte
}

// TestHeaderBits flips bits of the headers of small traces of every format: for headers
// that differ only in their values, all bits of the first and one bit of each other. A
// sample flips a hundred of them, a run of all every seventh, a full run all bits of the traces.
func TestHeaderBits(t *testing.T) {
	for _, s := range seeds(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			whole := readWithin(t, dir, s.wrapped(s.data))
			if whole.refused != nil || whole.collections == 0 || whole.reportsLoss {
				t.Fatalf("undamaged: %+v", whole)
			}
			all := s.flipped(t)
			failed := 0
			for _, b := range all {
				damaged := bytes.Clone(s.data)
				damaged[b.at] ^= 1 << b.number
				got := readWithin(t, dir, s.wrapped(damaged))
				if got.panicked != "" {
					t.Errorf("byte %d, bit %d: %s", b.at, b.number, got.panicked)
				}
				for _, figure := range got.impossible {
					t.Errorf("byte %d, bit %d: %s", b.at, b.number, figure)
				}
				if got.panicked != "" || len(got.impossible) > 0 {
					failed++
				}
			}
			t.Logf("%d bits of %d bytes, %d failed", len(all), len(s.data), failed)
		})
	}
}
