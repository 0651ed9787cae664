package alloc

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
)

// Millions of stacks, no two of them alike, fit into bounded memory; what there
// is no room for is summed up as other stacks.
func TestDistinctStacks(t *testing.T) {
	n := extent.Pick[uint64](400_000, 400_000, 10_000_000)
	const amount = 102_400
	maker := tracetest.Maker{PID: 7}
	var table symbol.Table
	m := Model{Stacks: symbol.NewStacks(&table)}
	for digit := range uint64(4) {
		for v := range uint64(256) {
			table.Feed(maker.At(0, &clr.MethodLoadVerbose{
				MethodID: digit<<8 | v, MethodStartAddress: digit<<16 | v, MethodSize: 1, MethodName: clr.NewUTF16(fmt.Sprintf("m%d_%d", digit, v)),
			}))
		}
	}
	e := tick("A", clr.AllocationKindSmall, amount, 24)
	before := liveBytes()
	mPass := pass.New(&m)
	for i := range n {
		// The digits of i in base 256, outermost first, so that stacks share few frames.
		digit := func(k uint) uint64 { return uint64(k)<<16 | i>>(8*k)&0xff }
		mPass.Feed(maker.At(0, e, 0x900000, digit(3), digit(2), digit(1), digit(0)))
	}
	const bound = 100 << 20
	if grown := int64(liveBytes()) - int64(before); grown > bound {
		t.Errorf("%d stacks take %d bytes, expected at most %d", n, grown, bound)
	}
	var samples, bytes, other int64
	stacks := make(map[symbol.StackID]bool)
	for _, r := range m.Rows(7, Tick, ByType|ByStack) {
		samples += r.Samples
		bytes += r.Bytes
		if r.Stack == symbol.OtherStacks {
			other += r.Samples
			continue
		}
		stacks[r.Stack] = true
	}
	if samples != int64(n) || bytes != int64(n)*amount {
		t.Errorf("rows sum to %d samples of %d bytes, expected %d of %d", samples, bytes, n, n*amount)
	}
	if other == 0 || int64(len(stacks)) != samples-other {
		t.Errorf("%d stacks and %d samples of others, expected %d samples to have stacks of their own and some not", len(stacks), other, samples-other)
	}
	t.Logf("%d stacks: %d kept, %d samples of others", n, len(stacks), other)
	runtime.KeepAlive(&m)
}

// liveBytes returns the size of the heap's live objects.
func liveBytes() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
