package gc_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// The sum is a lower bound, because the second pause is not in the trace.
func ExampleSum() {
	var paused gc.Sum[time.Duration]
	for _, pause := range []gc.Opt[time.Duration]{gc.Some(20 * time.Millisecond), {}, gc.Some(5 * time.Millisecond)} {
		paused.Add(pause)
	}
	total, is := paused.Get()
	fmt.Println(total, is)
	fmt.Println(paused)
	// Output:
	// 25ms lower_bound
	// >25ms
}

func TestSum(t *testing.T) {
	none, unknown, some, most := gc.Sum[int64]{}, gc.Sum[int64]{}, gc.Sum[int64]{}, gc.Sum[int64]{}
	unknown.Add(gc.Opt[int64]{})
	some.Add(gc.Some(int64(3)))
	most.Add(gc.Some(int64(math.MaxInt64)))
	most.Merge(some)
	joined := some
	joined.Merge(unknown)
	for _, test := range []struct {
		of   gc.Sum[int64]
		text string
		is   gc.Certainty
		opt  gc.Opt[int64]
	}{
		{none, "-", gc.Uncertain, gc.Opt[int64]{}},
		{unknown, "-", gc.Uncertain, gc.Opt[int64]{}},
		{some, "3", gc.Exact, gc.Some(int64(3))},
		{some.AtLeast(), ">3", gc.LowerBound, gc.Some(int64(3))},
		{joined, ">3", gc.LowerBound, gc.Some(int64(3))},
		{most, "9223372036854775807", gc.Exact, gc.Some(int64(math.MaxInt64))},
	} {
		if _, is := test.of.Get(); is != test.is || test.of.String() != test.text || test.of.Opt() != test.opt {
			t.Errorf("%v is %v, %v; want %s, %v, %v", test.of, is, test.of.Opt(), test.text, test.is, test.opt)
		}
	}
}
