package symbol_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
)

// TestNameBy: another trace of a process names its stacks, also where the first had no names.
func TestNameBy(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	stacks := symbol.NewStacks(new(symbol.Table))
	ev := maker.At(time.Second, &clr.GCAllocationTick{})
	ev.SetStack(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x1010), 0x2010), 8)
	id := stacks.Intern(ev)
	names := func() (all []string) {
		for f := range stacks.Frames(id) {
			all = append(all, f.String())
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"?", "?"}) {
		t.Errorf("%q without names", got)
	}
	if got := slices.Sorted(stacks.Addresses(7)); !slices.Equal(got, []uint64{0x1010, 0x2010}) {
		t.Errorf("addresses %#x", got)
	}
	if got := slices.Collect(stacks.Addresses(8)); got != nil {
		t.Errorf("addresses %#x of another process", got)
	}
	var methods symbol.Table
	methods.Feed(maker.At(0, &clr.MethodDCEndVerbose{MethodID: 1, MethodStartAddress: 0x1000, MethodSize: 0x100, MethodName: clr.NewUTF16("Run")}))
	stacks.NameBy(&methods)
	if got := names(); !slices.Equal(got, []string{"Run", "?"}) {
		t.Errorf("%q with names", got)
	}
}

// TestManyStacks: stacks keep their ids while their cache grows.
func TestManyStacks(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	stacks := symbol.NewStacks(new(symbol.Table))
	intern := func(n int) symbol.StackID {
		ev := maker.At(0, &clr.GCAllocationTick{})
		ev.SetStack(binary.LittleEndian.AppendUint64(nil, uint64(0x1000+n)), 8)
		return stacks.Intern(ev)
	}
	const many = 1 << 16
	var ids []symbol.StackID
	for n := range many {
		ids = append(ids, intern(n))
	}
	for n := range many {
		if got := intern(n); got != ids[n] {
			t.Fatalf("stack %d was %d, and is %d", n, ids[n], got)
		}
	}
}
