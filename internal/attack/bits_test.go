package attack

import (
	"bytes"
	"os"
	"testing"
)

// reach returns how much of the beginning and of the end of each seed is
// flipped: the headers of the file, of its first block, packet or buffer, and
// of events. The directory of a zip is at its end.
func reach(size int) (head, tail int) {
	switch {
	case os.Getenv("GCTRAIL_BITS") != "":
		return size, 0
	case testing.Short():
		return 32, 32
	default:
		return 160, 64
	}
}

// TestHeaderBits flips each bit of the headers of small traces of every format. All
// bits of the traces are flipped where GCTRAIL_BITS is set.
func TestHeaderBits(t *testing.T) {
	for _, s := range seeds(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			whole := readWithin(t, dir, s.wrapped(s.data))
			if whole.refused != nil || whole.collections == 0 || whole.told && s.wrap == nil && s.name != "zip of ctf 2" {
				t.Fatalf("undamaged: %+v", whole)
			}
			head, tail := reach(len(s.data))
			tried := 0
			for i := range s.data {
				if i >= head && i < len(s.data)-tail {
					continue
				}
				for bit := range 8 {
					damaged := bytes.Clone(s.data)
					damaged[i] ^= 1 << bit
					tried++
					got := readWithin(t, dir, s.wrapped(damaged))
					if got.panicked != "" {
						t.Errorf("byte %d, bit %d: %s", i, bit, got.panicked)
					}
					for _, figure := range got.impossible {
						t.Errorf("byte %d, bit %d: %s", i, bit, figure)
					}
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d bits", tried)
		})
	}
}
