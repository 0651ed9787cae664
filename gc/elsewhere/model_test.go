package elsewhere

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

const ms = time.Millisecond

var le = binary.LittleEndian

// event makes an event of the runtime.
func event(at time.Duration, pid, tid uint64, id uint32, payload ...byte) *trace.Event {
	return &trace.Event{
		Desc: &trace.Descriptor{Provider: clr.RuntimeProvider, ID: id}, Ticks: int64(at), Clock: &trace.Clock{Frequency: int64(time.Second)},
		PID: pid, TID: tid, PointerSize: 8, Payload: payload,
	}
}

// numbered is the payload of an event that begins with an id of a size.
func numbered(id uint64, size int) []byte { return le.AppendUint64(nil, id)[:size] }

// TestWaits matches begins and ends by process, thread and id. Neither an end without a begin,
// nor a load within another one counts.
func TestWaits(t *testing.T) {
	var m Model
	for _, ev := range []*trace.Event{
		event(1*ms, 1, 1, 81, 0, 0, 0),
		event(2*ms, 1, 2, 81, 0, 0, 0),
		event(3*ms, 2, 1, 81, 0, 0, 0), // another process
		event(4*ms, 1, 2, 91, 0, 0, 0),
		event(5*ms, 1, 3, 91, 0, 0, 0), // began before the trace
		event(9*ms, 1, 1, 91, 0, 0, 0),

		event(10*ms, 1, 1, 145, numbered(7, 8)...),
		event(12*ms, 1, 1, 143, numbered(8, 8)...), // was compiled before
		event(13*ms, 1, 1, 143, numbered(7, 8)...),
		event(14*ms, 1, 1, 145, 1, 2), // too short

		event(20*ms, 1, 1, 73, numbered(1, 4)...),
		event(21*ms, 1, 1, 73, numbered(2, 4)...),
		event(22*ms, 1, 1, 74, numbered(2, 4)...),
		event(26*ms, 1, 1, 74, numbered(1, 4)...),
		event(25*ms, 1, 4, 73, numbered(1, 4)...), // late, and it never ends
		event(30*ms, 1, trace.UnknownID, 81, 0, 0, 0),
	} {
		m.feed(ev)
	}
	want := Sum{Locks: Waits{2, 10 * ms, 8 * ms}, Methods: Waits{1, 3 * ms, 3 * ms}, Types: Waits{1, 6 * ms, 6 * ms}}
	if s := m.Of(1); s.Locks != want.Locks || s.Methods != want.Methods || s.Types != want.Types {
		t.Errorf("%+v, want %+v", s, want)
	}
	if s := m.Of(2); s == nil || s.Locks.Count != 0 {
		t.Errorf("another process: %+v", s)
	}
	if m.Of(3) != nil {
		t.Error("a process without events has a sum")
	}
}

// TestSlowest names the type whose load took longest, and cuts long names.
func TestSlowest(t *testing.T) {
	var m Model
	load := func(from, to time.Duration, name string) {
		m.feed(event(from, 1, 1, 73, numbered(1, 4)...))
		m.feed(event(to, 1, 1, 74, append(append(numbered(1, 4), make([]byte, 12)...), append(clr.NewUTF16(name), 0, 0)...)...))
	}
	for i, step := range []struct {
		took       time.Duration
		name, want string
	}{{2 * ms, "A", "A"}, {ms, "B", "A"}, {3 * ms, strings.Repeat("c", maxName+1), strings.Repeat("c", maxName)}} {
		at := time.Duration(i) * time.Second
		if load(at, at+step.took, step.name); m.Of(1).Slowest != step.want {
			t.Errorf("%q, want %q", m.Of(1).Slowest, step.want)
		}
	}
	for cut := range 20 {
		if name := loaded(make([]byte, cut)); name != "" {
			t.Errorf("%q in %d bytes", name, cut)
		}
	}
}

// TestPool counts the adjustments for starvation only, and ignores ones that are too short.
func TestPool(t *testing.T) {
	var m Model
	adjustment := func(threads, reason uint32) []byte {
		return le.AppendUint32(le.AppendUint32(make([]byte, 8), threads), reason)
	}
	for _, payload := range [][]byte{adjustment(40, 3), adjustment(5, 6), adjustment(4, 6), adjustment(9, 6)[:15]} {
		m.feed(event(ms, 1, 1, 55, payload...))
	}
	if s := m.Of(1); s.Starved != 2 || s.Threads != 5 {
		t.Errorf("%+v", s)
	}
}

// TestExceptions counts the exceptions of a time, by their types.
func TestExceptions(t *testing.T) {
	m := Model{Keep: func(at time.Duration) bool { return at < 10*ms }}
	make1 := tracetest.Maker{PID: 1, TID: 1}
	for i, name := range []string{"A", "B", "A", "C", "A"} {
		m.feed(make1.At(time.Duration(3*i)*ms, &clr.ExceptionThrown{ExceptionType: clr.NewUTF16(name)}))
	}
	m.feed(event(ms, 1, 1, 80, 'x'))
	if s := m.Of(1); s.Exceptions != 5 || s.ByType["A"] != 2 || s.ByType["B"] != 1 || s.ByType["C"] != 1 {
		t.Errorf("%+v", s)
	}
}

// TestBounds: processes and the states of threads do not grow without end.
func TestBounds(t *testing.T) {
	var m Model
	for i := range uint64(maxOpen + 10) {
		m.feed(event(ms, 1, i+1, 81, 0, 0, 0))
	}
	if len(m.open) != maxOpen {
		t.Errorf("%d begun", len(m.open))
	}
	for i := range uint64(maxProcesses + 10) {
		m.feed(event(ms, i+1, 1, 91, 0, 0, 0))
	}
	if len(m.sums) != maxProcesses || m.Of(maxProcesses+5) != nil {
		t.Errorf("%d processes", len(m.sums))
	}
}

// TestWants: the model reads the events of the runtime's own provider only.
func TestWants(t *testing.T) {
	for want, d := range map[bool]*trace.Descriptor{true: {Provider: clr.RuntimeProvider, ID: 81}, false: {Provider: clr.RundownProvider, ID: 143}} {
		if Wants(d) != want {
			t.Errorf("%+v", d)
		}
	}
}
