package proc_test

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/proc"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// TestStream adds the test's own processor time to a trace that begins now: the limits
// come once, and every event has its fields.
func TestStream(t *testing.T) {
	var in bytes.Buffer
	w, err := nettrace.NewWriter(&in, nettrace.WriterOptions{Version: 4, Start: time.Now(), Frequency: 1e9, PointerSize: 8, CPUs: 2, PID: 7})
	if err != nil {
		t.Fatal(err)
	}
	d := &trace.Descriptor{Provider: "p", ID: 1, Name: "Event", Level: 4}
	for i := range 3 {
		if err := w.Write(9, &trace.Event{Desc: d, PID: 7, TID: 9, Ticks: int64(i) * 10e9, PointerSize: 8}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := proc.NewStream(&in, os.Getpid())
	if cost, ok := s.Sample(); !ok || cost <= 0 {
		t.Fatalf("the test cannot be read, at a cost of %v", cost)
	}
	out, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	r := nettrace.NewReader(bytes.NewReader(out), nettrace.Options{})
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		count[ev.Desc.Name]++
		if ev.Desc.Provider != clr.GctrailProvider {
			continue
		}
		if k := clr.KindOf(ev.Desc.Provider, ev.Desc.ID); k == clr.KindUnknown || k.New().Decode(0, ev.Payload, 8) != nil || len(ev.Desc.Fields) == 0 {
			t.Errorf("%+v", ev.Desc)
		}
	}
	if count["Event"] != 3 || count["ProcessLimits"] != 1 || count["ProcessThreadTime"] == 1 {
		t.Errorf("%v", count)
	}
	if l := r.Loss(); l.Events > 0 || l.Damaged > 0 || l.Truncated {
		t.Errorf("%+v", l)
	}
}
