package profiler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// A session of a test: what a process samples and unloads.
type unloading struct {
	sampling
	maker tracetest.Maker
	start time.Time
}

func (u *unloading) feed(second int, e clr.Event, stack ...uint64) {
	ev := u.maker.At(time.Duration(second)*time.Second, e, stack...)
	u.resume(u.start.Add(ev.Time()))
	u.unloaded.feed(ev)
	u.pass.Feed(ev)
}

func (u *unloading) sample(second int, stack ...uint64) {
	u.feed(second, &clr.AllocationSampled{ObjectSize: 1 << 20, TypeName: clr.NewUTF16("A")}, stack...)
}

func (u *unloading) unload(second int, name string, at uint64) {
	u.feed(second, &clr.MethodUnloadVerbose{MethodID: at, MethodStartAddress: at, MethodSize: 0x100, MethodName: clr.NewUTF16(name)})
}

// names returns the innermost methods of the interval's stacks.
func (u *unloading) names(n *names, second int) (all []string) {
	i, _ := u.take(n, u.start.Add(time.Duration(second)*time.Second))
	for _, r := range i.Rows {
		for f := range i.Stacks.Frames(r.Stack) {
			all = append(all, f.String())
			break
		}
	}
	slices.Sort(all)
	return all
}

// TestUnloaded: stacks whose code was unloaded have its names, also where other code took its
// place, and no list of methods is asked for them.
func TestUnloaded(t *testing.T) {
	u := unloading{maker: tracetest.Maker{PID: 7}, start: time.Now()}
	u.begin(u.start)
	list := newNames()
	list.table.Feed(u.maker.At(0, &clr.MethodDCEndVerbose{MethodID: 1, MethodStartAddress: 0x9000, MethodSize: 0x100, MethodName: clr.NewUTF16("Run")}))
	u.sample(1, 0x1010, 0x9010)
	u.unload(2, "First", 0x1000)
	u.sample(3, 0x1010, 0x9010)
	u.unload(4, "Second", 0x1000)
	u.sample(5, 0x9010)
	u.sample(6, 0x5010)
	if unknown, _ := u.unnamed(list); unknown != 2 {
		t.Errorf("%d addresses need a list, want 2", unknown)
	}
	if got, want := u.names(list, 10), []string{"?", "First", "Run", "Second"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	u.sample(11, 0x1010)
	if got := u.names(list, 20); !slices.Equal(got, []string{"?"}) {
		t.Errorf("%q in the next interval", got)
	}
}

// TestManyUnloaded: how many names are kept of an interval is bounded.
func TestManyUnloaded(t *testing.T) {
	u := unloading{maker: tracetest.Maker{PID: 7}, start: time.Now()}
	u.begin(u.start)
	const many = 50_000
	for i := range uint64(many) {
		u.unload(1, fmt.Sprint("Method", i), 0x1000*(i+1))
	}
	if u.unloaded.bytes > maxUnloaded || u.unloaded.table.Methods() >= many {
		t.Errorf("%d methods, %d bytes", u.unloaded.table.Methods(), u.unloaded.bytes)
	}
}
