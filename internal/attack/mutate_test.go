package attack

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"slices"
	"strconv"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
)

// mutations are the ways in which an input is damaged.
var mutations = [...]struct {
	name  string
	apply func(r *rand.Rand, b, other []byte) []byte
}{
	{"flip a bit", func(r *rand.Rand, b, _ []byte) []byte {
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip bits", func(r *rand.Rand, b, _ []byte) []byte {
		for range 2 + r.IntN(30) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"set a word", func(r *rand.Rand, b, _ []byte) []byte {
		words := [][]byte{{0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0x7f}, {0, 0, 0, 0x80}, {1, 0, 0, 0}}
		copy(b[r.IntN(len(b)):], words[r.IntN(len(words))])
		return b
	}},
	{"delete a range", func(r *rand.Rand, b, _ []byte) []byte {
		from, to := stretch(r, len(b))
		return slices.Delete(b, from, to)
	}},
	{"repeat a range", func(r *rand.Rand, b, _ []byte) []byte {
		from, to := stretch(r, len(b))
		return slices.Insert(b, to, bytes.Clone(b[from:to])...)
	}},
	{"swap two ranges", func(r *rand.Rand, b, _ []byte) []byte {
		from, to := stretch(r, len(b))
		middle := from + (to-from)/2
		return slices.Concat(b[:from], b[middle:to], b[from:middle], b[to:])
	}},
	{"cut the end", func(r *rand.Rand, b, _ []byte) []byte { return b[:r.IntN(len(b))] }},
	{"splice in another's beginning", func(r *rand.Rand, b, other []byte) []byte {
		n := 1 + r.IntN(min(200, len(b), len(other)))
		copy(b, other[:n])
		return b
	}},
	{"splice in another's middle", func(r *rand.Rand, b, other []byte) []byte {
		from, to := stretch(r, len(other))
		return slices.Insert(b, r.IntN(len(b)), other[from:to]...)
	}},
}

// stretch chooses a range, short or long.
func stretch(r *rand.Rand, size int) (from, to int) {
	from = r.IntN(size)
	longest := min(size-from, 1<<r.IntN(14))
	return from, from + 1 + r.IntN(longest)
}

// maxHeap limits the memory for reading a small input, including the test's own.
const maxHeap = 512 << 20

func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestMutations damages traces at random and reads them.
func TestMutations(t *testing.T) {
	tries := extent.Pick(200, 3000, 20_000)
	number, err := strconv.ParseUint(os.Getenv("GCTRAIL_SEED"), 10, 64)
	if err != nil {
		number = 1
	}
	r := rand.New(rand.NewPCG(number, 0))
	all := seeds(t)
	dir := t.TempDir()
	whole := make([]outcome, len(all))
	for i := range all {
		whole[i] = readWithin(t, dir, all[i].wrapped(all[i].data))
	}
	var refused, reported, moved int
	for n := range tries {
		i := r.IntN(len(all))
		s, other := &all[i], &all[r.IntN(len(all))]
		how := r.IntN(len(mutations))
		data := s.wrapped(mutations[how].apply(r, bytes.Clone(s.data), other.data))
		if !extent.Due(n, 8) {
			continue
		}
		got := readWithin(t, dir, data)
		switch {
		case got.panicked != "":
			t.Errorf("%d: %s: %s: %s\n%s", n, s.name, mutations[how].name, keep(t, data), got.panicked)
		case len(got.impossible) > 0:
			t.Errorf("%d: %s: %s: %s: %q", n, s.name, mutations[how].name, keep(t, data), got.impossible)
		case got.refused != nil:
			refused++
		case got.reportsLoss:
			reported++
		case how == 0 && whole[i].share.Known() && got.share.Known() && math.Abs(got.share.Or(0)-whole[i].share.Or(0)) > whole[i].share.Or(0)/10:
			moved++
			t.Logf("%d: %s: one bit moves the share of pauses from %.4g to %.4g %% and no loss is reported", n, s.name, whole[i].share.Or(0), got.share.Or(0))
		}
		if h := heap(); h > maxHeap {
			t.Errorf("%d: %s: %s: %d MB in use: %s", n, s.name, mutations[how].name, h>>20, keep(t, data))
		}
	}
	t.Logf("of %d damaged inputs: %d refused, %d reported loss or damage, %d single bits moved the share of pauses unreported", tries, refused, reported, moved)
}
