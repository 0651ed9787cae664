package eventpipe

import "math"

// Times is a range of times in ticks of the trace's clock, both ends included. It
// ends Span ticks after From, and may pass the largest number.
type Times struct{ From, Span uint64 }

// AllTimes is the range of all times.
var AllTimes = Times{0, math.MaxUint64}

// Holds reports whether the range includes a time.
func (t Times) Holds(ticks uint64) bool { return ticks-t.From <= t.Span }

// Within returns t if it is part of another range, and the other one if it is not.
func (t Times) Within(o Times) Times {
	if o.Holds(t.From) && t.Span <= o.Span-(t.From-o.From) {
		return t
	}
	return o
}
