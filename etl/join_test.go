package etl_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gctrail/gctrail/etl"
)

// TestHeadDamaged makes heads of damaged and truncated files: the result is an error, or
// as long as the file claims for its first buffer.
func TestHeadDamaged(t *testing.T) {
	whole := packed(t)[:40_000]
	random := rand.New(rand.NewPCG(1, 8))
	for way := range 2000 {
		data := bytes.Clone(whole)
		if way%2 == 0 {
			data = data[:random.IntN(2000)]
		}
		for range random.IntN(4) {
			if len(data) > 0 {
				data[random.IntN(min(len(data), 600))] = byte(random.UintN(256))
			}
		}
		f := etl.File{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}
		head, err := etl.Head([]etl.File{f, f}, way%3 == 0)
		if err != nil {
			continue
		}
		if n, err := etl.HeadSize(f); err != nil || n != int64(len(head)) || n > f.Size {
			t.Errorf("way %d: %d bytes of %d, want %d: %v", way, len(head), f.Size, n, err)
		}
	}
}
