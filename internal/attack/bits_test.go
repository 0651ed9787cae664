package attack

import (
	"bytes"
	"os"
	"testing"
)

// flipped returns the bits of an undamaged trace that are flipped.
func (s *seed) flipped(tb testing.TB) []bit {
	list := s.headers(tb, s.data)
	switch v := os.Getenv("GCTRAIL_BITS"); {
	case v == "all":
		return bits(whole(tb, s.data))
	case v == "headers":
		return bits(list)
	case testing.Short():
		return sampled(list, 0)
	default:
		return sampled(list, 1)
	}
}

// TestHeaderBits flips each bit of the headers of small traces of every format: of
// headers that differ only in their values all bits of the first, and one bit of each
// other. GCTRAIL_BITS=headers flips all bits of all headers, GCTRAIL_BITS=all all bits
// of the traces.
func TestHeaderBits(t *testing.T) {
	for _, s := range seeds(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			whole := readWithin(t, dir, s.wrapped(s.data))
			if whole.refused != nil || whole.collections == 0 || whole.told {
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
