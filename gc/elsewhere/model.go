package elsewhere

import (
	"encoding/binary"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/trace"
)

// A Sum sums up the events of a process. Each figure is a lower bound where events were lost.
type Sum struct {
	Locks   Waits // of threads for locks
	Methods Waits // of threads for methods to be compiled
	Types   Waits // of threads for types to be loaded; within another load, it is part of that
	// Slowest is the type whose load took longest, empty if unknown.
	Slowest string
	// Starved counts how often the thread pool added threads because its queue did not move,
	// and Threads is the most that it then had.
	Starved, Threads int
	Exceptions       int            // thrown
	ByType           map[string]int // the same, of up to 64 types
}

// Waits are times of threads.
type Waits struct {
	Count int
	Total time.Duration // summed up over threads
	Max   time.Duration
}

// The bounds of a Model.
const (
	maxProcesses = pass.MaxProcesses
	maxOpen      = 1 << 16 // that have begun and not ended, of all processes
	maxTypes     = 64      // of exceptions, of a process
	maxName      = 256     // UTF-16 units of a type's name
)

// A Model sums up the events of a trace. The zero Model is ready for use, for one trace, by one
// goroutine.
type Model struct {
	// Keep reports whether events of a time count; nil for all.
	Keep func(at time.Duration) bool

	sums    map[uint64]*Sum
	open    map[openKey]opened
	decoded clr.ExceptionThrown
}

// An openKey identifies an action that a thread is in.
type openKey struct {
	pid, tid uint64
	what     action
}

// An opened is an action that a thread began and has not ended.
type opened struct {
	id uint64 // of the method, or of the load of a type
	at time.Duration
}

// Models returns the models that read the trace for m.
func (m *Model) Models() []pass.Model { return []pass.Model{pass.Raw(Wants, m.feed)} }

// Of returns the sums of a process, nil if it has none.
func (m *Model) Of(pid uint64) *Sum { return m.sums[pid] }

// feed counts an event.
func (m *Model) feed(ev *trace.Event) {
	step := stepOf(ev.Desc)
	if step.action == none || m.Keep != nil && !m.Keep(ev.Time()) {
		return
	}
	s := m.sum(ev.PID)
	if s == nil {
		return
	}
	switch step.action {
	case throwing:
		m.count(s, ev)
	case adjusting:
		s.adjust(ev.Payload)
	default:
		m.move(s, step, ev)
	}
}

// sum returns the sum of a process, nil if there is no room for one more.
func (m *Model) sum(pid uint64) *Sum {
	s := m.sums[pid]
	if s == nil && len(m.sums) < maxProcesses {
		if m.sums == nil {
			m.sums, m.open = make(map[uint64]*Sum), make(map[openKey]opened)
		}
		s = new(Sum)
		m.sums[pid] = s
	}
	return s
}

// count counts an exception.
func (m *Model) count(s *Sum, ev *trace.Event) {
	s.Exceptions++
	if m.decoded.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil {
		return
	}
	name := m.decoded.ExceptionType.String()
	if s.ByType == nil {
		s.ByType = make(map[string]int)
	}
	if _, known := s.ByType[name]; known || len(s.ByType) < maxTypes {
		s.ByType[name]++
	}
}

// starvation is the reason of an adjustment for a queue that does not move. See
// ThreadAdjustmentReason in the runtime's PortableThreadPool.
const starvation = 6

// adjust reads an adjustment of the thread pool: its throughput, its threads and a reason.
func (s *Sum) adjust(payload []byte) {
	if len(payload) < 16 || binary.LittleEndian.Uint32(payload[12:]) != starvation {
		return
	}
	s.Starved++
	s.Threads = max(s.Threads, int(binary.LittleEndian.Uint32(payload[8:])))
}

// move begins or ends an action of a thread.
func (m *Model) move(s *Sum, step step, ev *trace.Event) {
	if ev.TID == trace.UnknownID {
		return
	}
	id, ok := step.id(ev.Payload)
	if !ok {
		return
	}
	k := openKey{ev.PID, ev.TID, step.action}
	begun, known := m.open[k]
	switch {
	case step.begins && known && step.action == loading: // of another type, within that one
	case step.begins && (known || len(m.open) < maxOpen):
		m.open[k] = opened{id, ev.Time()}
	case !step.begins && known && begun.id == id:
		delete(m.open, k)
		w := s.of(step.action)
		longest := w.Max
		w.add(ev.Time() - begun.at)
		if step.action == loading && w.Max > longest {
			s.Slowest = loaded(ev.Payload)
		}
	}
}

// loaded returns the name in a TypeLoadStop, behind the load's id, the runtime's, the level and
// the type's id; empty if the payload is too short. It is cut at maxName characters.
func loaded(payload []byte) string {
	const before = 4 + 2 + 2 + 8
	if len(payload) < before {
		return ""
	}
	units := payload[before:]
	for i := 0; i+1 < len(units); i += 2 {
		if i == 2*maxName || units[i] == 0 && units[i+1] == 0 {
			return clr.UTF16(units[:i]).String()
		}
	}
	return ""
}

// of returns the waits of an action.
func (s *Sum) of(a action) *Waits {
	switch a {
	case locking:
		return &s.Locks
	case compiling:
		return &s.Methods
	default:
		return &s.Types
	}
}

func (w *Waits) add(d time.Duration) {
	d = max(0, d)
	w.Count++
	w.Total += d
	w.Max = max(w.Max, d)
}
