package gogc_test

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/emit/gogc"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
)

// TestCycles: every cycle becomes a collection with Go's own pause, to the nanosecond, or
// counts as missed, where the source gets no processor in time.
func TestCycles(t *testing.T) {
	p, err := gogc.NewProvider(gogc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no cycles besides the ones below
	var out bytes.Buffer
	session, err := p.Start(&out, emit.SessionOptions{Providers: gogc.Wanted()})
	if err != nil {
		t.Fatal(err)
	}
	source, err := gogc.Start(p, gogc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after debug.GCStats
	debug.ReadGCStats(&before)
	const cycles = 20
	for range cycles {
		runtime.GC()
		time.Sleep(time.Millisecond) // lets the source raise most cycles one by one
	}
	debug.ReadGCStats(&after)
	missed := source.Stop()
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}

	var model gc.Model
	var got []*gc.Collection
	src := nettrace.NewReader(&out, nettrace.Options{})
	for c, err := range model.Collections(src) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	if len(got) == 0 || len(got)+missed != cycles || after.NumGC-before.NumGC != cycles {
		t.Fatalf("%d collections, %d missed, of %d cycles", len(got), missed, after.NumGC-before.NumGC)
	}
	next := 0
	for _, c := range got {
		i := int(c.Number) - int(before.NumGC) - 1
		if i < next || i >= cycles {
			t.Fatalf("GC %d after %d of %d cycles", c.Number, next, cycles)
		}
		next = i + 1
		if c.Kind != gc.Background || c.Reason.Or(0) != clr.GCReasonInduced {
			t.Errorf("got %+v", c)
		}
		if want := after.Pause[cycles-1-i]; !c.Pause().Known() || c.Pause().Or(0) != want {
			t.Errorf("pause %v, want %v", c.Pause(), want)
		}
		if c.Suspend().Known() || c.Freed.Known() || c.HeapBefore.Known() {
			t.Errorf("invented: %+v", c)
		}
		ended := src.Info().Start.Add(c.End.Or(0))
		if off := ended.Sub(after.PauseEnd[cycles-1-i]); off.Abs() > time.Millisecond {
			t.Errorf("ended at %v, %v off", ended, off)
		}
	}
	if last := got[len(got)-1]; !last.Complete || last.HeapAfter.Or(0) <= 0 {
		t.Errorf("the last: %+v", last)
	}
}

// TestReason distinguishes the runtime's cycles from the program's.
func TestReason(t *testing.T) {
	p, err := gogc.NewProvider(gogc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	session, err := p.Start(&out, emit.SessionOptions{Providers: gogc.Wanted()})
	if err != nil {
		t.Fatal(err)
	}
	source, err := gogc.Start(p, gogc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after debug.GCStats
	debug.ReadGCStats(&before)
	var kept []byte
	for after.NumGC < before.NumGC+3 {
		kept = make([]byte, 1<<20)
		debug.ReadGCStats(&after)
	}
	runtime.KeepAlive(kept)
	source.Stop()
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	var start clr.GCStart
	var decoder clr.Decoder
	starts, custom := 0, 0
	for ev, err := range nettrace.NewReader(&out, nettrace.Options{}).Events() {
		switch {
		case err != nil:
			t.Fatal(err)
		case clr.KindOf(ev.Desc.Provider, ev.Desc.ID) == clr.KindGCStart:
			if err := start.Decode(ev.Desc.Version, ev.Payload, 8); err != nil || start.Reason != clr.GCReasonAllocSmall {
				t.Errorf("%+v, %v", start, err)
			}
			starts++
		case decoder.Name(ev.Desc) == "GoCycle":
			custom++
		}
	}
	if starts < 3 || custom == 0 {
		t.Errorf("%d starts, %d GoCycle", starts, custom)
	}
}
