package main

import (
	"math/rand/v2"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
)

// A heap is the memory of one heap, by generation.
type heap [emit.POH + 1]space

// A space is the content of a generation, in bytes.
type space struct{ objects, free uint64 }

// A result describes a collection for its events and for the summary.
type result struct {
	emit.Result
	promoted, freed uint64
}

// collect collects a generation of all heaps, and compacts them.
func collect(rng *rand.Rand, heaps []heap, generation int) *result {
	r := &result{Result: emit.Result{Heaps: make([]emit.HeapResult, len(heaps)), Mechanisms: clr.GlobalMechanismsCompaction}}
	for i := range heaps {
		h, hr := &heaps[i], &r.Heaps[i]
		measure(h, hr)
		var moved uint64 // from the younger generation
		for g := emit.Gen0; g <= emit.Gen2; g++ {
			hr[g].In = moved
			if g > generation {
				h[g].objects += moved
				break
			}
			survived := r.mark(rng, &hr[g], h[g].objects)
			h[g] = space{objects: moved}
			if moved = survived; g == emit.Gen2 {
				h[g].objects += survived
			}
		}
		for g := emit.LOH; generation == 2 && g <= emit.POH; g++ { // which are swept
			survived := r.mark(rng, &hr[g], h[g].objects)
			h[g] = space{objects: survived, free: h[g].free + h[g].objects - survived}
		}
		finish(h, hr)
	}
	r.about(rng)
	return r
}

// mark decides which bytes of a generation survive.
func (r *result) mark(rng *rand.Rand, v *clr.GCPerHeapHistoryValue, objects uint64) (survived uint64) {
	survived = uint64(float64(objects) * (0.05 + 0.4*rng.Float64()))
	v.PinnedSurv = survived / 50
	v.NonePinnedSurv = survived - v.PinnedSurv
	r.promoted += survived
	r.freed += objects - survived
	return survived
}

// beginSweep records the contents of the heaps when a background collection starts. What is
// promoted or allocated from then on survives it.
func beginSweep(heaps []heap) *result {
	r := &result{Result: emit.Result{Heaps: make([]emit.HeapResult, len(heaps))}}
	for i := range heaps {
		measure(&heaps[i], &r.Heaps[i])
	}
	return r
}

// sweep frees a part of the contents at the start.
func (r *result) sweep(rng *rand.Rand, heaps []heap) {
	for i := range heaps {
		h, hr := &heaps[i], &r.Heaps[i]
		for g := emit.Gen2; g <= emit.POH; g++ {
			before := hr[g].SizeBefore - hr[g].FreeObjBefore
			survived := r.mark(rng, &hr[g], before)
			h[g].objects -= before - survived
			h[g].free += before - survived
		}
		finish(h, hr)
	}
	r.about(rng)
}

func measure(h *heap, hr *emit.HeapResult) {
	for g := range h {
		hr[g].SizeBefore, hr[g].FreeObjBefore = h[g].objects+h[g].free, h[g].free
	}
}

func finish(h *heap, hr *emit.HeapResult) {
	for g := range h {
		hr[g].SizeAfter, hr[g].FreeObjAfter = h[g].objects+h[g].free, h[g].free
		hr[g].NewAllocation = 4 << 20
	}
}

// about makes up the figures of a collection besides sizes.
func (r *result) about(rng *rand.Rand) {
	r.MemoryLoad = 40 + rng.IntN(20)
	r.PinnedObjects = pinned
	r.Handles = handles
	r.FinalizationObjects = uint64(rng.IntN(100))
	r.FinalizationBytes = 64 * r.FinalizationObjects
}
