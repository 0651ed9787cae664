package whatif

import (
	"math"
	"time"
)

// growth returns how much larger than the survivors a budget is, for a share of survivors.
// See surv_to_growth in dynamic_tuning.cpp.
func growth(survival, limit, maxLimit float32) float32 {
	if survival < (maxLimit-limit)/(limit*(maxLimit-1)) {
		return (limit - limit*survival) / (1 - survival*limit)
	}
	return maxLimit
}

// linear corrects a budget if the one before was not used up: the earlier budget is weighted
// by the part that was left, and by less the longer ago it was set. See
// linear_allocation_model in dynamic_tuning.cpp. used is a share of before.
func linear(used, budget, before, seconds float64) float64 {
	const expires = 5 * 60
	if used >= 0.95 || used <= 0 {
		return budget
	}
	weight := (1 - used) * max(0, (expires-seconds)/expires)
	return (1-weight)*budget + weight*before
}

// align rounds a budget up as the runtime aligns objects on 64-bit systems.
func align(n float64) float64 { return math.Ceil(n/8) * 8 }

// inputs determine the budget of one generation of one heap. Sizes are in
// bytes.
type inputs struct {
	begin     float64       // objects before the collection
	out       float64       // survivors
	size      float64       // objects after it
	left      float64       // objects after the collection of the generation before
	free      float64       // free space after it
	before    float64       // the budget until now
	since     time.Duration // when the generation was collected last
	used      float64       // the share of it that was used up
	seconds   float64       // since the collection of the generation before
	gen2      float64       // gen 2's new budget, for large objects
	conserve  float64       // GCConserveMemory, 0 to 9
	reduction bool          // gen 0 is fragmented or memory is scarce
}

// young computes the budget of gen 0 or gen 1. See desired_new_allocation in
// dynamic_tuning.cpp.
func (s *StaticData) young(in *inputs) float64 {
	if in.begin == 0 {
		return s.Min
	}
	f := growth(float32(in.out/in.begin), s.Limit, s.MaxLimit)
	n := min(max(float64(f)*in.out, s.Min), s.Max)
	n = linear(in.used, n, in.before, in.seconds)
	if in.reduction {
		n = min(n, max(s.Min, s.Max/3))
	}
	return align(n)
}

// old computes the budget of gen 2 or of the generation g of large or pinned objects, with
// memory to spare.
func (s *StaticData) old(g int, in *inputs) float64 {
	if in.begin == 0 {
		return s.Min
	}
	f := float64(growth(float32(min(1, in.out/in.begin)), s.Limit, s.MaxLimit))
	if in.conserve > 0 {
		f = min(f, (10/in.conserve-1)*0.5+1)
	}
	size := s.Max
	if in.size < s.Max/f {
		size = min(max(f*in.size, s.Min), s.Max)
	}
	grown := max(0, size-in.size)
	if g != gen2 {
		n := max(grown, in.gen2, in.size/4, s.Min)
		return align(linear(in.used, n, in.before, in.seconds))
	}
	n := linear(in.used, max(grown, s.Min), in.before, in.seconds)
	if in.conserve == 0 && in.free > (f-1)*in.size {
		n = max(s.Min, n*in.size/(in.size+2*in.free))
	}
	return align(n)
}
