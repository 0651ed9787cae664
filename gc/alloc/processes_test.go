package alloc

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/eventtest"
	"github.com/gctrail/gctrail/trace"
)

// TestManyProcesses: allocations of more processes than a Model distinguishes are summed
// up as an unknown process's.
func TestManyProcesses(t *testing.T) {
	const more, amount = 500, 1 << 20
	var m Model
	for n := range maxProcesses + more {
		maker := eventtest.Maker{PID: uint64(1 + n), TID: 1}
		m.Feed(maker.At(0, &clr.GCAllocationTick{AllocationAmount: amount, AllocationAmount64: amount}))
	}
	totals := m.Totals()
	if len(totals) != maxProcesses+1 {
		t.Fatalf("%d processes", len(totals))
	}
	for _, total := range totals {
		want := int64(amount)
		if total.PID == trace.UnknownID {
			want *= more
		}
		if total.Bytes != want {
			t.Errorf("process %d: %d bytes, want %d", total.PID, total.Bytes, want)
		}
	}
}
