package etl_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestProcesses names processes by every layout there is.
func TestProcesses(t *testing.T) {
	b := tracetest.NewETL()
	buffer := b.Buffer(0)
	us := int64(0)
	kernel := func(kind, opcode uint8, version uint16, payload ...any) {
		us++
		buffer.Event(tracetest.ETLEvent{
			Type: kind, Time: 1_000_000 + 10*us, PID: 9, TID: 9,
			Group: 3, Opcode: opcode, Version: version, Payload: tracetest.ETLPayload(payload...),
		})
	}
	described := func(id, version uint16, payload ...any) {
		us++
		buffer.Event(tracetest.ETLEvent{
			Type: tracetest.ETLEvent64, Time: 1_000_000 + 10*us,
			Provider: tracetest.KernelProcessGUID, ID: id, Version: version, Payload: tracetest.ETLPayload(payload...),
		})
	}
	ansi := func(s string) []byte { return append([]byte(s), 0) }
	const key64, key32, none = uint64(1), uint32(1), uint32(0) // none: no SID
	ids := func(pid, parent uint32) []uint32 { return []uint32{pid, parent, 1, 0} }
	user := []any{uint64(1), uint64(0), []byte{1, 2, 0, 0, 0, 0, 0, 5}, uint64(0)} // TOKEN_USER and SID
	kernel(tracetest.ETLSystem64, 1, 0, uint64(90), uint64(4), none, ansi("v0.exe"))
	kernel(tracetest.ETLSystem32, 1, 0, uint32(91), uint32(4), none, ansi("v0-32.exe"))
	kernel(tracetest.ETLSystem32, 3, 1, key32, ids(200, 6), none, ansi("caf\xe9.exe"))
	kernel(tracetest.ETLSystem64, 3, 2, key64, ids(210, 6), none, ansi("v2.exe"), "v2.exe -x")
	kernel(tracetest.ETLPerfInfo64, 4, 3, append(append([]any{key64, ids(220, 6), key64}, user...), ansi("v3.exe"), "v3.exe -x")...)
	kernel(tracetest.ETLSystem64, 1, 4, key64, ids(100, 4), key64, uint32(0), none, ansi("old.exe"), "old.exe -x", "", "")
	kernel(tracetest.ETLPerfInfo64, 4, 4, append(append([]any{key64, ids(100, 5), key64, uint32(0)}, user...), ansi("new.exe"), `"C:\new.exe" -y`, "", "")...)
	kernel(tracetest.ETLSystem64, 39, 5, key64, ids(230, 6), key64, uint32(0), none, ansi("v5.exe"), "", "package", "app", int64(133485408000000000))
	kernel(tracetest.ETLSystem64, 1, 4, key64, uint32(300))                                                     // too short
	kernel(tracetest.ETLSystem64, 32, 2, uint64(310), make([]byte, 200))                                        // counters
	kernel(tracetest.ETLSystem64, 1, 6, key64, ids(240, 6), key64, uint32(0), none, ansi("v6.exe"), "", "", "") // none such yet

	sid := []byte{1, 1, 0, 0, 0, 0, 0, 16, 0, 0x30, 0, 0}
	const created = int64(133485408000000000)
	path := func(name string) string { return `\Device\HarddiskVolume1\` + name }
	described(1, 0, uint32(400), created, uint32(7), uint32(1), path("p0.exe"))
	described(1, 1, uint32(401), created, uint32(7), uint32(1), uint32(0), path("p1.exe"))
	described(1, 2, uint32(402), created, uint32(7), uint32(1), uint32(0), path("p2.exe"), uint64(0), "", "")
	described(1, 3, uint32(403), uint64(1), created, uint32(7), uint64(1), uint32(1), uint32(0), uint64(0), sid, path("p3.exe"), uint64(0), "", "")
	described(15, 0, uint32(410), created, uint32(7), uint32(1), uint32(0), path("r0.exe"), uint64(0), "", "")
	described(15, 1, uint32(411), uint64(1), created, uint32(7), uint64(1), uint32(1), uint32(0), uint64(0), sid, path("r1.exe"), uint64(0), "", "")

	data := b.Bytes()
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{Want: func(*trace.Descriptor) bool { return false }})
	for range r.Events() {
		t.Error("an unwanted event")
	}
	want := map[uint64]trace.Process{
		90:  {Name: "v0.exe"},
		91:  {Name: "v0-32.exe"},
		100: {Name: "new.exe", CommandLine: `"C:\new.exe" -y`},
		200: {Name: "café.exe"},
		210: {Name: "v2.exe", CommandLine: "v2.exe -x"},
		220: {Name: "v3.exe", CommandLine: "v3.exe -x"},
		230: {Name: "v5.exe"},
		240: {Name: "v6.exe"},
		400: {Name: "p0.exe"},
		401: {Name: "p1.exe"},
		402: {Name: "p2.exe"},
		403: {Name: "p3.exe"},
		410: {Name: "r0.exe"},
		411: {Name: "r1.exe"},
	}
	if got := fmt.Sprint(r.Info().Processes); got != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestReusedPIDs names a PID by the process that the runtime's events came from,
// in whatever order the parts of the trace are read.
func TestReusedPIDs(t *testing.T) {
	process := func(us int64, opcode uint8, name, command string) tracetest.ETLEvent {
		return tracetest.ETLEvent{
			Type: tracetest.ETLSystem64, Time: 1_000_000 + 10*us, Group: 3, Opcode: opcode, Version: 2,
			Payload: tracetest.ETLPayload(uint64(1), []uint32{5, 4, 1, 0}, uint32(0), append([]byte(name), 0), command),
		}
	}
	const start, stop, rundown = 1, 2, 4
	for _, c := range []struct {
		name   string
		one    []tracetest.ETLEvent // of one processor
		other  []tracetest.ETLEvent // of another
		wanted trace.Process
	}{
		{
			"the first raised", []tracetest.ETLEvent{at(20, 1), at(30, 2)}, []tracetest.ETLEvent{
				process(10, start, "app.exe", "app.exe -x"), process(40, stop, "app.exe", "app.exe -x"),
				process(50, start, "conhost.exe", "conhost.exe -y"), process(90, rundown, "conhost.exe", "conhost.exe -y"),
			}, trace.Process{Name: "app.exe", CommandLine: "app.exe -x"},
		},
		{
			"the second raised", []tracetest.ETLEvent{process(90, rundown, "app.exe", "app.exe -x"), at(100, 1)}, []tracetest.ETLEvent{
				process(10, start, "conhost.exe", ""), process(40, stop, "conhost.exe", ""), process(50, start, "app.exe", ""),
			}, trace.Process{Name: "app.exe", CommandLine: "app.exe -x"},
		},
		{
			"both raised", []tracetest.ETLEvent{at(20, 1), at(60, 2)}, []tracetest.ETLEvent{
				process(10, start, "one.exe", ""), process(50, start, "two.exe", ""),
			}, trace.Process{Name: "two.exe"},
		},
		{
			"told after all events",
			[]tracetest.ETLEvent{at(20, 1)},
			[]tracetest.ETLEvent{process(90, rundown, "app.exe", "")},
			trace.Process{Name: "app.exe"},
		},
	} {
		for _, swap := range []bool{false, true} {
			f := tracetest.NewETL()
			first, second := c.one, c.other
			if swap {
				first, second = second, first
			}
			for cpu, events := range [][]tracetest.ETLEvent{first, second} {
				b := f.Buffer(uint16(cpu))
				b.Event(tracetest.ETLEvent{Type: tracetest.ETLSystem64, Time: 1_000_000, Group: 1}) // begins all buffers at one time
				for _, e := range events {
					b.Event(e)
				}
			}
			data := f.Bytes()
			r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{})
			for range r.Events() {
				continue
			}
			if got := r.Info().Processes[5]; got != c.wanted {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.wanted)
			}
		}
	}
}
