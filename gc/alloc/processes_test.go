package alloc

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestManyProcesses: allocations of more processes than are distinguished count as left out.
func TestManyProcesses(t *testing.T) {
	const more, amount = 500, 1 << 20
	var m Model
	mPass := pass.New(&m)
	for n := range pass.MaxProcesses + more {
		maker := tracetest.Maker{PID: uint64(1 + n), TID: 1}
		mPass.Feed(maker.At(0, &clr.GCAllocationTick{AllocationAmount: amount, AllocationAmount64: amount}))
	}
	totals := m.Totals()
	var loss trace.Loss
	mPass.End(&loss)
	if len(totals) != pass.MaxProcesses || loss.LeftOut != more {
		t.Fatalf("%d processes, %d events left out", len(totals), loss.LeftOut)
	}
	for _, total := range totals {
		if total.Bytes != amount {
			t.Errorf("process %d: %d bytes, want %d", total.PID, total.Bytes, amount)
		}
	}
}
