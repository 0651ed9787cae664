package gc_test

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// TestGCTime reads the time of threads that collect: it counts from the first reading in the
// trace, and what the pauses may add is known only of workstation GC.
func TestGCTime(t *testing.T) {
	const none = -1
	for _, tt := range []struct {
		name             string
		server           gc.Opt[bool]
		readings         [][3]uint64 // ms: of all threads, of server GC's, of background GC's
		paused           time.Duration
		missing          int
		least, most, run time.Duration
	}{
		{"workstation", gc.Some(false), [][3]uint64{{0, 0, 0}, {100, 0, 20}, {300, 0, 50}}, 40 * time.Millisecond, 0, 50, 90, 300},
		{"cut head", gc.Some(false), [][3]uint64{{1000, 0, 500}, {1300, 0, 510}}, 0, 0, 10, 10, 300},
		{"more pauses than time", gc.Some(false), [][3]uint64{{0, 0, 0}, {30, 0, 10}}, 40 * time.Millisecond, 0, 10, 30, 30},
		{"missing collections", gc.Some(false), [][3]uint64{{0, 0, 0}, {300, 0, 10}}, 40 * time.Millisecond, 1, 10, none, 300},
		{"server", gc.Some(true), [][3]uint64{{0, 0, 0}, {300, 70, 10}}, 40 * time.Millisecond, 0, 80, none, 300},
		{"server by its threads", gc.Opt[bool]{}, [][3]uint64{{0, 0, 0}, {300, 70, 10}}, 0, 0, 80, none, 300},
		{"server without time", gc.Some(true), [][3]uint64{{0, 0, 0}, {300, 0, 10}}, 0, 0, 10, none, 300},
		{"of an unknown kind", gc.Opt[bool]{}, [][3]uint64{{0, 0, 0}, {300, 0, 10}}, 9 * time.Millisecond, 0, 10, 19, 300},
		{"not read", gc.Some(false), nil, 0, 0, none, none, 0},
	} {
		p := gc.Process{Server: tt.server, Missing: tt.missing}
		at := time.Duration(0)
		for i, r := range tt.readings {
			p.Processor.Read(at, &clr.ProcessThreadTime{RunNanoseconds: r[0] * 1e6})
			p.Processor.Read(at, &clr.GCThreadTime{Threads: uint32(i), ServerNanoseconds: r[1] * 1e6, BackgroundNanoseconds: r[2] * 1e6})
			if i == 0 {
				p.Processor.Paused(at+time.Millisecond, at+time.Millisecond+tt.paused)
			}
			at += time.Second
		}
		inMillis := func(d gc.Opt[time.Duration]) time.Duration {
			if !d.Known() {
				return none
			}
			return d.Or(0) / time.Millisecond
		}
		least, most := gc.Opt[time.Duration]{}, gc.Opt[time.Duration]{}
		if g, known := p.GCTime().Get(); known {
			least, most = gc.Some(g.Least), g.Most
			if g.Source != gc.ThreadTimes || g.Run != p.Processor.Run || g.Estimate.Known() {
				t.Errorf("%s: %+v", tt.name, g)
			}
		}
		if inMillis(least) != tt.least || inMillis(most) != tt.most || p.Processor.Run != tt.run*time.Millisecond {
			t.Errorf("%s: %v to %v of %v, want %d to %d of %d ms", tt.name, least, most, p.Processor.Run, tt.least, tt.most, tt.run)
		}
		if g := p.Processor.GC.Or(gc.CollectorTime{}); g.Threads != max(0, len(tt.readings)-1) {
			t.Errorf("%s: %d threads", tt.name, g.Threads)
		}
	}
}
