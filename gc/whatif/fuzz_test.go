package whatif

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// hostile makes figures of bytes: often such that overflow, or are not possible.
type hostile struct{ data []byte }

var extremes = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 62, -1 << 62, 1 << 20, 1 << 32, 85_000}

func (h *hostile) byte() byte {
	if len(h.data) == 0 {
		return 0
	}
	b := h.data[0]
	h.data = h.data[1:]
	return b
}

func (h *hostile) number() int64 {
	b := h.byte()
	if int(b) < len(extremes) {
		return extremes[b]
	}
	var raw [8]byte
	h.data = h.data[copy(raw[:], h.data):]
	return int64(binary.LittleEndian.Uint64(raw[:])) >> (b & 63)
}

func (h *hostile) opt() gc.Opt[int64] {
	if h.byte()&1 == 0 {
		return gc.Opt[int64]{}
	}
	return gc.Some(h.number())
}

func (h *hostile) generation() gc.Generation {
	return gc.Generation{
		Before: h.number(), FreeBefore: h.number(), In: h.number(), Out: h.number(), Budget: h.number(),
		After: h.opt(), Fragmentation: h.opt(), FreeList: h.opt(),
	}
}

func (h *hostile) collection(p *gc.Process, n uint32) *gc.Collection {
	b := h.byte()
	c := &gc.Collection{
		Process: p, Number: n + uint32(h.byte()&1), Kind: gc.Kind(b & 3), Generation: gc.Some(int(b>>2&3) - int(b>>7)),
		Reason: gc.Some(clr.GCReason(b >> 4 & 7)), Heaps: gc.Some(int(h.number())), AllPauses: true, AffectedByLoss: b == 255,
		Start: gc.Some(time.Duration(h.number())), End: gc.Some(time.Duration(h.number())),
		Pauses:    []gc.Pause{{Duration: time.Duration(h.number())}},
		HeapAfter: h.opt(), CommittedBefore: h.opt(), CommittedAfter: h.opt(), FinalizationPromoted: h.opt(),
	}
	for range h.byte() & 7 {
		c.Generations = append(c.Generations, h.generation())
	}
	for heap := range uint32(h.byte() & 3) {
		part := gc.HeapPart{Heap: heap}
		for range h.byte() & 7 {
			part.Generations = append(part.Generations, h.generation())
		}
		c.PerHeap = append(c.PerHeap, part)
	}
	return c
}

// FuzzPredict: whatever collections say of themselves, bounds are numbers, in order, and at
// least zero.
func FuzzPredict(f *testing.F) {
	f.Add([]byte("\x00\x01\x02"))
	f.Add([]byte("\x10\x03\x03\x03\x03\x03\x03\x03\x03\x05\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03"))
	f.Add([]byte("\x0b\x04\x04\x04\x04\x04\x04\x04\x01\x04\x01\x04\x07\x04\x04\x04\x04\x04\x01\x04\x01\x04\x01\x04\x03\x07"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := &hostile{data}
		b := h.byte()
		of := &gc.Process{Started: time.Duration(h.number()), Stopped: time.Duration(h.number())}
		if b&1 != 0 {
			of.Server, of.Concurrent = gc.Some(b&2 != 0), gc.Some(b&4 != 0)
		}
		if b&8 != 0 {
			of.Settings = &clr.GCSettingsRundown{Gen0MaxBudgetConfig: uint64(h.number()), Gen0MinBudgetConfig: uint64(h.number()), HardLimit: uint64(h.number() & 1)}
		}
		p := Program{Process: of}
		for n := range uint32(20) {
			p.Add(h.collection(of, n))
			if len(h.data) == 0 {
				break
			}
		}
		for _, name := range Names() {
			for _, value := range []string{"0", "100000", "6000000", "ffffffffffffffff"} {
				r := Predict(&p, []Set{set(t, name+"="+value)})
				for _, m := range r.Metrics {
					checkBounds(t, r, m)
				}
			}
		}
	})
}

func checkBounds(t *testing.T, r *Result, m Metric) {
	t.Helper()
	for _, v := range []gc.Opt[float64]{m.Now, m.Low, m.High} {
		if x := v.Or(0); math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			t.Fatalf("%+v: %+v", r.Settings, m)
		}
	}
	if m.Low.Or(0) > m.High.Or(math.MaxFloat64) {
		t.Fatalf("%+v: %+v", r.Settings, m)
	}
}
