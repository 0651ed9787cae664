package alloc

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// A timeline has the bytes of the rows, at the times of the events.
func TestTimeline(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	m := Model{KeepTimes: true}
	e := tick("A", clr.AllocationKindSmall, 1000, 24)
	mPass := pass.New(&m)
	for i := range 10 {
		mPass.Feed(maker.At(time.Duration(i)*time.Second, e))
	}
	mPass.Feed(maker.At(10*time.Second, tick("B", clr.AllocationKindLarge, 5000, 24)))
	at, bytes := time.Duration(0), int64(0)
	for row := range m.Timeline(7, Tick) {
		if row.Time != at || row.Samples != 1 || (row.Type == "B") != (row.Heap == Large) {
			t.Errorf("at %v: %+v", at, row)
		}
		bytes += row.Bytes
		at += time.Second
	}
	if bytes != 15_000 || at != 11*time.Second {
		t.Errorf("%d bytes in %v", bytes, at)
	}
	for row := range m.Timeline(7, Sampled) {
		t.Errorf("of another source: %+v", row)
	}
}

// However many events there are, a bounded number of entries is kept, in order, and no
// byte is lost.
func TestTimelineIsBounded(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	m := Model{KeepTimes: true}
	types := []*clr.GCAllocationTick{tick("A", clr.AllocationKindSmall, 1000, 24), tick("B", clr.AllocationKindSmall, 1000, 24)}
	const n = 2_000_000
	mPass := pass.New(&m)
	for i := range n {
		mPass.Feed(maker.At(time.Duration(i)*time.Microsecond, types[i%2]))
	}
	entries, last, bytes := 0, time.Duration(0), map[string]int64{}
	for row := range m.Timeline(7, Tick) {
		if row.Time < last {
			t.Fatalf("%v after %v", row.Time, last)
		}
		entries, last = entries+1, row.Time
		bytes[row.Type] += row.Bytes
	}
	if entries > maxTimed || bytes["A"] != n/2*1000 || bytes["B"] != n/2*1000 {
		t.Errorf("%d entries, bytes %v", entries, bytes)
	}
	if last < time.Second {
		t.Errorf("the last entry is at %v", last)
	}
}
