package symbol

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestManyProcesses: a Table counts the methods of processes that it has no room for, and
// gives their addresses no names.
func TestManyProcesses(t *testing.T) {
	const more, address = 500, 4096
	var table Table
	stacks := NewStacks(&table)
	var last StackID
	for n := range maxProcesses + more {
		maker := tracetest.Maker{PID: uint64(1 + n), TID: 1}
		ev := maker.At(0, &clr.MethodLoadVerbose{
			MethodStartAddress: address, MethodSize: 16,
			MethodNamespace: clr.NewUTF16("A"), MethodName: clr.NewUTF16("B"),
		})
		table.Feed(ev)
		ev.SetStack([]byte{0, 16, 0, 0, 0, 0, 0, 0}, 8)
		last = stacks.Intern(ev)
	}
	if len(table.byPID) > maxProcesses+1 || table.Dropped() != more || table.Methods() != maxProcesses {
		t.Errorf("%d processes, %d methods, %d dropped", len(table.byPID), table.Methods(), table.Dropped())
	}
	if f := table.Resolve(1, address, 0); !f.Resolved() {
		t.Errorf("process 1: %v", f)
	}
	if f := table.Resolve(maxProcesses+more, address, 0); f.Resolved() {
		t.Errorf("process without room: %v", f)
	}
	for f := range stacks.Frames(last) {
		if f.Resolved() || f.Address != address {
			t.Errorf("stack of a process without room: %v", f)
		}
	}
}
