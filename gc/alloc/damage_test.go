package alloc

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestImpossibleTicks checks that ticks whose figures contradict each other are left out and
// counted.
func TestImpossibleTicks(t *testing.T) {
	const amount = 110_000
	tick := func(change func(*clr.GCAllocationTick)) clr.GCAllocationTick {
		v := clr.GCAllocationTick{AllocationAmount: amount, AllocationAmount64: amount, ObjectSize: 24_000}
		change(&v)
		return v
	}
	for name, v := range map[string]clr.GCAllocationTick{
		"amounts differ":         tick(func(v *clr.GCAllocationTick) { v.AllocationAmount64 |= 1 << 43 }),
		"the low amount differs": tick(func(v *clr.GCAllocationTick) { v.AllocationAmount |= 1 << 30 }),
		"no small context":       tick(func(v *clr.GCAllocationTick) { v.AllocationAmount64 += 1 << 32 }),
		"no such heap":           tick(func(v *clr.GCAllocationTick) { v.AllocationKind = 1 << 9 }),
		"object larger":          tick(func(v *clr.GCAllocationTick) { v.ObjectSize = 1 << 40 }),
		"object far smaller": tick(func(v *clr.GCAllocationTick) {
			v.AllocationAmount, v.AllocationAmount64, v.AllocationKind = 1<<30, 1<<30, clr.AllocationKindLarge
		}),
	} {
		var m Model
		maker := tracetest.Maker{PID: 1, TID: 1}
		sound := tick(func(*clr.GCAllocationTick) {})
		mPass := pass.New(&m)
		mPass.Feed(maker.At(0, &sound))
		mPass.Feed(maker.At(1, &v))
		totals := m.Totals()
		if len(totals) != 1 || totals[0].Bytes != amount || m.Rejected() != 1 {
			t.Errorf("%s: %+v, %d rejected", name, totals, m.Rejected())
		}
	}
}
