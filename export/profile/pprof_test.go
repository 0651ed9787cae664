package profile_test

import (
	"bytes"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/symbol"
)

// TestSamples checks the contents of a sample: objects, bytes, its labels, and the address and
// name of its only frame.
func TestSamples(t *testing.T) {
	maker := tracetest.Maker{PID: 7}
	var methods symbol.Table
	methods.Feed(maker.At(0, &clr.MethodLoadVerbose{MethodID: 1, MethodStartAddress: 0x1000, MethodSize: 0x100, MethodName: clr.NewUTF16("Run")}))
	stacks := symbol.NewStacks(&methods)
	ev := maker.At(time.Second, &clr.GCAllocationTick{})
	ev.SetStack([]byte{0x10, 0x10, 0, 0, 0, 0, 0, 0}, 8)
	row := alloc.Row{Type: "A", Heap: alloc.Large, Stack: stacks.Intern(ev), Objects: 3, Estimate: alloc.Estimate{Bytes: 100}}
	var out bytes.Buffer
	processes := []*export.Allocations{{Process: &gc.Process{PID: 7, Name: "web"}, Rows: []alloc.Row{row}, Stacks: stacks}}
	if err := profile.WritePprof(&out, profile.Allocations(processes), time.Unix(100, 0), time.Minute); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	if p.TimeNanos != 100e9 || p.DurationNanos != 60e9 || len(p.SampleType) != 2 || p.SampleType[0].Type != "alloc_objects" || p.SampleType[1].Type != "alloc_space" || p.SampleType[1].Unit != "bytes" {
		t.Errorf("%+v", p)
	}
	if len(p.Sample) != 1 || len(p.Sample[0].Location) != 1 {
		t.Fatalf("%+v", p.Sample)
	}
	s := p.Sample[0]
	if s.Value[0] != 3 || s.Value[1] != 100 || s.Label["type"][0] != "A" || s.Label["process"][0] != "web" || s.Label["heap"][0] != "large" {
		t.Errorf("%+v", s)
	}
	if l := s.Location[0]; l.Address != 0x1010 || len(l.Line) != 1 || l.Line[0].Function.Name != "Run" {
		t.Errorf("%+v", l)
	}
}
