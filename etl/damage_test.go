package etl_test

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// digests counts the events of a file by all that is in them.
func digests(t *testing.T, data []byte) map[uint64]int {
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
	got := make(map[uint64]int)
	for ev, err := range r.Events() {
		if err != nil {
			return nil
		}
		got[digest(ev)]++
	}
	return got
}

// digest leaves out the process of an event that lies outside of its buffer: a sample's.
func digest(ev *trace.Event) uint64 {
	pid := ev.PID
	if ev.Desc.Provider == "PerfInfo" {
		pid = 0
	}
	h := fnv.New64a()
	h.Write([]byte(ev.Desc.Provider))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(ev.Ticks)))
	h.Write(binary.LittleEndian.AppendUint64(nil, pid<<32|ev.TID))
	h.Write([]byte{byte(ev.Desc.ID), byte(ev.Desc.ID >> 8), byte(ev.Desc.Version), byte(ev.CPU)})
	h.Write(ev.Payload)
	return h.Sum64()
}

// missing returns the number of events in part that are not in whole.
func missing(whole, part map[uint64]int) (n int) {
	for d, count := range part {
		n += max(0, count-whole[d])
	}
	return n
}

// A damageFixture is a file to be damaged; its buffers begin at starts.
type damageFixture struct {
	data   []byte
	starts []int
	whole  map[uint64]int
}

func damageFixtures(t *testing.T) map[string]damageFixture {
	const buffers = 16
	data := packed(t)
	data = data[:starts(data)[buffers]]
	var unpacked bytes.Buffer
	if err := tracetest.RepeatETL(&unpacked, data, tracetest.ETLRepetition{Times: 1}); err != nil {
		t.Fatal(err)
	}
	fixtures := map[string]damageFixture{}
	for name, data := range map[string][]byte{"plain": unpacked.Bytes(), "packed": data, "circular": plain(t)} {
		fixtures[name] = damageFixture{data, starts(data), digests(t, data)}
	}
	return fixtures
}

// starts returns where the buffers of a sound file begin.
func starts(data []byte) (at []int) {
	for pos := 0; pos < len(data); pos += int(binary.LittleEndian.Uint32(data[pos:])) {
		at = append(at, pos)
	}
	return at
}

// before returns the number of buffers that end at or before off.
func (f *damageFixture) before(off int) int {
	n, _ := slices.BinarySearch(f.starts, off+1)
	return n - 1
}

// TestCutAnywhere truncates files: the rest yields only events of the file, and all
// events in whole buffers.
func TestCutAnywhere(t *testing.T) {
	for name, f := range damageFixtures(t) {
		t.Run(name, func(t *testing.T) {
			kept := make([]map[uint64]int, len(f.starts))
			for i, at := range f.starts {
				kept[i] = digests(t, f.data[:at])
			}
			cuts := extent.Pick(40, 100, 20_000)
			for i := range cuts {
				n := len(f.data) * i / cuts
				got := digests(t, f.data[:n])
				if m := missing(f.whole, got); m > 0 {
					t.Errorf("cut at %d: %d events that were not there", n, m)
				}
				if m := missing(got, kept[f.before(n)]); m > 0 {
					t.Errorf("cut at %d: %d events before it are gone", n, m)
				}
			}
		})
	}
}

// TestFlipAnywhere flips bits: events are lost from one buffer at most, or two if its
// header is hit. It spares the bits that describe the file as a whole.
func TestFlipAnywhere(t *testing.T) {
	for name, f := range damageFixtures(t) {
		t.Run(name, func(t *testing.T) {
			// others[i] has the events of all buffers except i-1 to i+1.
			others := make([]map[uint64]int, len(f.starts))
			for i := range extent.Pick(100, 300, 50_000) {
				rnd := rand.New(rand.NewPCG(uint64(i), uint64(len(f.data))))
				at, bit := f.starts[1]+rnd.IntN(len(f.data)-f.starts[1]), rnd.IntN(8)
				flipped := bytes.Clone(f.data)
				flipped[at] ^= 1 << bit
				got := digests(t, flipped)
				n := f.before(at)
				if others[n] == nil {
					others[n] = digests(t, f.without(n))
				}
				if m := missing(got, others[n]); m > 0 {
					t.Errorf("bit %d of byte %#x flipped: %d events of other buffers are gone", bit, at, m)
				}
			}
		})
	}
}

// without returns the file without buffer n and its neighbours.
func (f *damageFixture) without(n int) []byte {
	from, to := f.starts[max(1, n-1)], len(f.data)
	if n+2 < len(f.starts) {
		to = f.starts[n+2]
	}
	return slices.Concat(f.data[:from], f.data[to:])
}
