package compare

import "math"

// studentTail returns the probability that Student's t exceeds a positive value.
func studentTail(t, freedom float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	// With t = sqrt(freedom)·tan(a), the density of a is proportional to cos(a)^(freedom-1).
	return cosineIntegral(math.Atan(t/math.Sqrt(freedom)), freedom-1) / (2 * cosineIntegral(0, freedom-1))
}

// StudentQuantile returns the value that Student's t exceeds with the given probability, below
// one half; with infinitely many degrees of freedom, the quantile of the normal distribution.
func StudentQuantile(probability, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return math.Sqrt2 * math.Erfinv(1-2*probability)
	}
	low, high := 0.0, math.Pi/2 // of a
	for range 60 {
		middle := (low + high) / 2
		if studentTail(math.Sqrt(freedom)*math.Tan(middle), freedom) > probability {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(freedom) * math.Tan(low)
}

// cosineIntegral integrates cos(a)^power from the given angle to a right one, by Simpson's
// rule.
func cosineIntegral(from, power float64) float64 {
	const steps = 200
	width := (math.Pi/2 - from) / steps
	sum := 0.0
	for i := range steps + 1 {
		weight := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			weight = 1
		}
		sum += weight * math.Pow(max(0, math.Cos(from+float64(i)*width)), power)
	}
	return sum * width / 3
}
