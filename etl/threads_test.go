package etl_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestThreads gives events without a process the process of their thread at the time.
func TestThreads(t *testing.T) {
	const none = 1<<32 - 1
	f := tracetest.NewETL()
	one, two := f.Buffer(0), f.Buffer(1)
	kernel := func(b *tracetest.ETLBuffer, us int64, kind, opcode uint8, version uint16, payload ...any) {
		b.Event(tracetest.ETLEvent{
			Type: kind, Time: 1_000_000 + 10*us, PID: none, TID: none,
			Group: 5, Opcode: opcode, Version: version, Payload: tracetest.ETLPayload(payload...),
		})
	}
	described := func(b *tracetest.ETLBuffer, us int64, id uint16, pid, tid uint32) {
		b.Event(tracetest.ETLEvent{
			Type: tracetest.ETLEvent64, Time: 1_000_000 + 10*us, PID: none, TID: none,
			Provider: tracetest.KernelProcessGUID, ID: id, Version: 1, Payload: tracetest.ETLPayload(pid, tid),
		})
	}
	raised := func(us int64, pid, tid uint32) {
		e := at(us, 1)
		e.PID, e.TID = pid, tid
		two.Event(e)
	}
	const start, end, rundown, rundownEnd = 1, 2, 3, 4
	raised(1, none, 60)
	kernel(one, 2, tracetest.ETLSystem64, rundown, 3, uint32(5), uint32(60), make([]byte, 64))
	raised(3, none, 60)
	raised(4, 9, 60)
	raised(5, none, none)
	kernel(one, 6, tracetest.ETLSystem64, end, 3, uint32(5), uint32(60), make([]byte, 64))
	raised(7, none, 60)
	kernel(one, 8, tracetest.ETLSystem32, start, 0, uint32(60), uint32(6)) // the id, used again
	raised(9, none, 60)
	kernel(one, 10, tracetest.ETLPerfInfo64, start, 1, uint32(7), uint32(70))
	kernel(one, 10, tracetest.ETLSystem64, rundownEnd, 4, uint32(7), uint32(71), make([]byte, 64))
	kernel(one, 10, tracetest.ETLSystem64, 36, 2, uint32(7), uint32(72), make([]byte, 16)) // a switch
	kernel(one, 10, tracetest.ETLSystem64, 0, 2, uint32(7), uint32(72), make([]byte, 16))  // an unknown event
	kernel(one, 10, tracetest.ETLSystem64, start, 2, uint32(7))                            // too short
	raised(11, none, 70)
	raised(12, none, 71)
	raised(13, none, 72)
	described(one, 14, 3, 8, 80)
	raised(15, none, 80)
	described(one, 16, 4, 9, 80) // of another process
	raised(17, none, 80)
	described(one, 18, 4, 8, 80)
	raised(19, none, 80)

	for _, stacks := range []bool{false, true} {
		data := f.Bytes()
		r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{
			Want:   func(d *trace.Descriptor) bool { return d.Provider == "Microsoft-Windows-DotNETRuntime" },
			Stacks: stacks,
		})
		var got strings.Builder
		for ev, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%d:", ev.Time().Microseconds())
			if ev.PID != trace.UnknownID {
				fmt.Fprintf(&got, "%d", ev.PID)
			}
			got.WriteByte(' ')
		}
		if want := "1: 3:5 4:9 5: 7: 9:6 11:7 12:7 13: 15:8 17:8 19: "; got.String() != want {
			t.Errorf("with stacks %v: got %s, want %s", stacks, got.String(), want)
		}
	}
}

// TestRunningThreads: CPU samples and context switches have the thread of their payload, with
// the process that it belonged to at the time.
func TestRunningThreads(t *testing.T) {
	const none = 1<<32 - 1
	f := tracetest.NewETL()
	b := f.Buffer(0)
	raise := func(us int64, kind, group, opcode uint8, payload ...any) {
		b.Event(tracetest.ETLEvent{Type: kind, Time: 1_000_000 + 10*us, PID: none, TID: none, Group: group, Opcode: opcode, Version: 3, Payload: tracetest.ETLPayload(payload...)})
	}
	const thread, perfInfo = 5, 0x0f
	raise(1, tracetest.ETLSystem64, thread, 3, uint32(5), uint32(60), make([]byte, 64))
	raise(2, tracetest.ETLPerfInfo64, perfInfo, 46, uint64(1), uint32(60), uint32(1))
	raise(3, tracetest.ETLPerfInfo32, perfInfo, 46, uint32(1), uint32(60), uint32(1))
	raise(4, tracetest.ETLPerfInfo64, perfInfo, 46, uint64(1), uint32(61), uint32(1)) // unknown
	raise(5, tracetest.ETLPerfInfo64, perfInfo, 46, uint64(1), uint16(60))            // too short
	raise(6, tracetest.ETLPerfInfo64, thread, 36, uint32(60), uint32(61), make([]byte, 16))
	raise(7, tracetest.ETLPerfInfo64, perfInfo, 73, uint32(0), uint32(60), uint32(60)) // of no thread
	raise(8, tracetest.ETLSystem64, thread, 2, uint32(5), uint32(60), make([]byte, 64))
	raise(9, tracetest.ETLPerfInfo64, perfInfo, 46, uint64(1), uint32(60), uint32(1))

	data := f.Bytes()
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{
		Want: func(d *trace.Descriptor) bool {
			return d.Provider == "PerfInfo" || d.Provider == "Thread" && d.ID == 36
		},
	})
	var got strings.Builder
	id := func(n uint64) string {
		if n == trace.UnknownID {
			return "-"
		}
		return strconv.FormatUint(n, 10)
	}
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%d:%s/%s ", ev.Time().Microseconds(), id(ev.PID), id(ev.TID))
	}
	if want := "2:5/60 3:5/60 4:-/61 5:-/- 6:5/60 7:-/- 9:-/60 "; got.String() != want {
		t.Errorf("got %s, want %s", got.String(), want)
	}
}

// TestManyThreads follows an id through more events than are stored.
func TestManyThreads(t *testing.T) {
	const (
		none    = 1<<32 - 1
		buffers = 50
		each    = 1000
	)
	f := tracetest.NewETL()
	f.Header.BufferSize = 0x10000
	us := int64(0)
	var want []uint64
	for i := range buffers {
		b := f.Buffer(0)
		for range each {
			us++
			b.Event(tracetest.ETLEvent{
				Type: tracetest.ETLSystem64, Time: 1_000_000 + 10*us, PID: none, TID: none,
				Group: 5, Opcode: 1, Version: 3, Payload: tracetest.ETLPayload(uint32(us), uint32(6)),
			})
		}
		if i == 0 || i == buffers-1 {
			e := at(us, 1)
			e.PID = none
			b.Event(e)
			want = append(want, uint64(us))
		}
	}
	if got := runtimePIDs(t, f.Bytes()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRealThreads removes the processes from the runtime's events of a real trace, and
// gets back the ones whose threads the kernel reported.
func TestRealThreads(t *testing.T) {
	var whole bytes.Buffer
	if err := tracetest.RepeatETL(&whole, packed(t), tracetest.ETLRepetition{Times: 1}); err != nil {
		t.Fatal(err)
	}
	bare := bytes.Clone(whole.Bytes())
	guid := tracetest.ParseGUID(tracetest.RuntimeGUID)
	for at := 0x18; ; at++ {
		i := bytes.Index(bare[at:], guid[:])
		if i < 0 {
			break
		}
		at += i
		if header := bare[at-0x18:]; header[2] == tracetest.ETLEvent64 && header[3] == 0xc0 {
			copy(header[0x0c:], "\xff\xff\xff\xff")
		}
	}
	want, got := runtimePIDs(t, whole.Bytes()), runtimePIDs(t, bare)
	if len(got) != len(want) {
		t.Fatalf("%d events, not %d", len(got), len(want))
	}
	known := 0
	for i, pid := range got {
		switch pid {
		case want[i]:
			known++
		case trace.UnknownID:
		default:
			t.Errorf("event %d is of process %d, not %d", i, pid, want[i])
		}
	}
	if known == 0 || known < len(want) {
		t.Errorf("%d of %d processes are known", known, len(want))
	}
}

func runtimePIDs(t *testing.T, data []byte) (pids []uint64) {
	r := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.Options{
		Want: func(d *trace.Descriptor) bool { return d.Provider == "Microsoft-Windows-DotNETRuntime" },
	})
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, ev.PID)
	}
	return pids
}
