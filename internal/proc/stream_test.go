package proc

import (
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestUnknownWait writes that the wait is not known, as the descriptor says.
func TestUnknownWait(t *testing.T) {
	for _, wait := range []gc.Opt[time.Duration]{{}, gc.Some(time.Duration(0)), gc.Some(time.Second)} {
		sample := ProcessorSample{Threads: gc.Some(3), Run: gc.Some(time.Minute), Wait: wait}
		all := sample.Events()
		i := slices.IndexFunc(all, func(e clr.Event) bool { return e.EventKind() == clr.KindProcessThreadTime })
		if i < 0 {
			t.Fatal("no event")
		}
		d := descriptors[clr.KindProcessThreadTime]
		var got clr.ProcessThreadTime
		if err := got.Decode(d.Version, all[i].Append(nil, d.Version, 8), 8); err != nil {
			t.Fatal(err)
		}
		if got.WaitUnknown == wait.Known() || got.WaitNanoseconds != uint64(wait.Or(0)) || got.RunNanoseconds != 60e9 || got.Threads != 3 {
			t.Errorf("%v: %+v", wait, got)
		}
	}
}
