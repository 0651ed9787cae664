package alloc

import "math"

// A sum adds up samples.
type sum struct {
	samples int64
	bytes   float64
	certain float64 // of bytes, not subject to sampling
	squares float64 // the sum of the variances of the rest, each sample on its own
	objects float64 // estimated number of objects; zero if events have no sizes
}

func (s *sum) add(t *sum) {
	s.samples += t.samples
	s.bytes += t.bytes
	s.certain += t.certain
	s.squares += t.squares
	s.objects += t.objects
}

// An Estimate is a number of bytes, and the interval that contains the true
// number in 95 of 100 traces.
type Estimate struct {
	Bytes, Low, High int64
	// Open is set if there is no upper bound: then High is Bytes.
	Open bool
}

// z is the quantile of the normal distribution for 95 %.
const z = 1.959964

// effective returns the number of samples of equal weight that are as
// uncertain.
func (s *sum) effective() float64 {
	if s.squares <= 0 {
		return math.Inf(1)
	}
	rest := s.bytes - s.certain
	return rest * rest / s.squares
}

// whole estimates all that was allocated. Ticks miss at most the last interval
// of each heap.
func (s *sum) whole(source Source) Estimate {
	if source == Tick {
		return s.estimate(1, 1, Tick)
	}
	low, high := poisson(s.effective())
	return s.estimate(low, high, source)
}

// part estimates a part of all. Ticks account for all allocated bytes, and sample only their
// types and stacks, so that a part is a proportion of a known whole. AllocationSampled also
// samples the whole, so that a part is estimated from its own number of samples.
func (s *sum) part(all *sum, source Source) Estimate {
	if source != Tick {
		return s.whole(source)
	}
	rest, of := s.bytes-s.certain, all.bytes-all.certain
	if rest <= 0 || of <= 0 {
		return s.estimate(1, 1, source)
	}
	low, high := proportion(rest/of, all.effective())
	return s.estimate(low*of/rest, high*of/rest, source)
}

// estimate scales the part of s that is subject to sampling.
func (s *sum) estimate(low, high float64, source Source) Estimate {
	rest, bytes := s.bytes-s.certain, round(s.bytes)
	return Estimate{
		Bytes: bytes,
		Low:   min(bytes, round(s.certain+rest*low)), // beyond 2^53, floats are too coarse to keep the order
		High:  max(bytes, round(s.certain+rest*high)),
		Open:  source == Object,
	}
}

func round(v float64) int64 { return int64(math.Round(min(v, math.MaxInt64/2))) }

// poisson returns the bounds of the mean of a Poisson variable whose observed value
// is n, as parts of n. Byar's approximation, good to 1 % from n = 1 on.
func poisson(n float64) (low, high float64) {
	if math.IsInf(n, 1) {
		return 1, 1
	}
	m := n + 1
	low = 1 - 1/(9*n) - z/(3*math.Sqrt(n))
	high = 1 - 1/(9*m) + z/(3*math.Sqrt(m))
	return max(0, low*low*low), m / n * high * high * high
}

// proportion returns Wilson's interval of a proportion p seen in n samples.
func proportion(p, n float64) (low, high float64) {
	if math.IsInf(n, 1) {
		return p, p
	}
	centre := p + z*z/(2*n)
	spread := z * math.Sqrt(max(0, p*(1-p)/n+z*z/(4*n*n)))
	return max(0, (centre-spread)/(1+z*z/n)), min(1, (centre+spread)/(1+z*z/n))
}
