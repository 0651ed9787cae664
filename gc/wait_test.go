package gc_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestWait reads how long threads waited: it is unknown as soon as one reading does not have
// it, and what does not depend on it stays.
func TestWait(t *testing.T) {
	const ms = time.Millisecond
	some := gc.Some[time.Duration]
	for _, tt := range []struct {
		name                 string
		unknown              [3]bool
		wait, inPauses       gc.Opt[time.Duration]
		waitPct, inPausesPct gc.Opt[float64]
	}{
		{"known", [3]bool{}, some(100 * ms), some(8 * ms), gc.Some(25.0), gc.Some(20.0)},
		{name: "never known", unknown: [3]bool{true, true, true}},
		{name: "not known first", unknown: [3]bool{true}},
		{name: "not known last", unknown: [3]bool{2: true}},
	} {
		var p gc.ProcessorTime
		for i, unknown := range tt.unknown {
			at := time.Duration(i) * time.Second
			p.Read(at, &clr.ProcessThreadTime{RunNanoseconds: uint64(i) * 150e6, WaitNanoseconds: uint64(min(i, 1)) * 100e6, WaitUnknown: unknown})
			p.Paused(at, at+20*ms)
		}
		if p.Wait != tt.wait || p.WaitPct() != tt.waitPct {
			t.Errorf("%s: waited %v, %v %%", tt.name, p.Wait, p.WaitPct())
		}
		if p.PauseWait != tt.inPauses || p.PauseWaitPct() != tt.inPausesPct {
			t.Errorf("%s: waited %v of pauses, %v %%", tt.name, p.PauseWait, p.PauseWaitPct())
		}
		if p.Run != 300*ms || p.PauseCovered != 40*ms {
			t.Errorf("%s: ran %v, %v of pauses", tt.name, p.Run, p.PauseCovered)
		}
	}
	if p := new(gc.ProcessorTime); p.Wait.Known() || p.WaitPct().Known() || p.PauseWaitPct().Known() {
		t.Error("waiting is known without a reading")
	}
}
