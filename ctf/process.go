package ctf

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gctrail/gctrail/trace"
)

// A lastNamed is the process whose name a stream has reported last.
type lastNamed struct {
	pid    uint64   // UnknownID if there is none
	length int      // of the name that its first thread has, 0 if unknown
	name   [32]byte // with the zeros behind it
}

// maxProcesses bounds the processes of a trace.
const maxProcesses = 1 << 16

// environment reads the description of the traced program in the metadata, or else in the
// name of the folder.
func (m *member) environment() {
	env := m.meta.Env
	switch {
	case env["architecture_bit_width"] == "32":
		m.pointerSize = 4
	case env["architecture_bit_width"] == "64":
		m.pointerSize = 8
	case strings.HasSuffix(m.dir, "32-bit"):
		m.pointerSize = 4
	case m.longSize() == 32:
		m.pointerSize = 4
	default:
		m.pointerSize = 8
	}
	if pid, err := strconv.ParseUint(env["vpid"], 10, 32); err == nil {
		m.pid, m.process = pid, env["procname"]
	}
}

// longSize returns the size of a C long in the traced program in bits, 0 if unknown. It
// matters because LTTng's counter of discarded events is one.
func (m *member) longSize() int {
	for _, s := range m.meta.Streams {
		if s.PacketContext == nil {
			continue
		}
		for _, f := range s.PacketContext.Fields {
			if f.Name == "events_discarded" {
				return f.Type.Size
			}
		}
	}
	return 0
}

// processID returns the process of events that do not name theirs.
func (m *member) processID() uint64 {
	if m.pid == 0 {
		return trace.UnknownID
	}
	return m.pid
}

// named reports whether the thread names of a process can name the process. Names of a
// kernel trace cannot.
func (m *member) named(pid uint64) bool { return !m.kernel && pid != trace.UnknownID }

// processRoles and threadRoles are the fields that identify the process and the thread of
// an event, the best first.
var (
	processRoles = [...]role{roleVPID, rolePID}
	threadRoles  = [...]role{roleVTID, roleTID, rolePthread}
)

// mask has the bits that a role's values have.
func (r role) mask() uint64 {
	if r == rolePthread {
		return 1<<64 - 1
	}
	return 1<<32 - 1
}

// first returns the value of the first role that is present, or else value.
func (d *decoder) first(roles []role, value uint64) uint64 {
	for _, r := range roles {
		if d.has(r) {
			return identity(d.roles[r] & r.mask())
		}
	}
	return value
}

// noID is -1 in 32 bits, for events whose tracer does not know the process or thread.
const noID = math.MaxUint32

// identity returns the process or thread that v stands for.
func identity(v uint64) uint64 {
	if v == noID {
		return trace.UnknownID
	}
	return v
}

// maxPID is the highest id that Linux gives a process: 2²² (PID_MAX_LIMIT in threads.h).
const maxPID = 1 << 22

// possible reports whether a program can have this PID. Bytes that are read as an event
// although they are none usually have a PID that no program has, such as 0.
func (m *member) possible(pid uint64) bool {
	return !m.programs || 0 < pid && pid <= maxPID || pid == trace.UnknownID
}

// identify names the next event's process after the event's thread. The first thread's
// name is the process's; until that is seen, any thread's serves. It returns false if there
// can be no such process.
func (s *stream) identify() bool {
	h := &s.head
	if s.identified(h.pid, h.tid, h.nameOff, h.nameLen) {
		return true
	}
	if !s.member.possible(h.pid) {
		return false
	}
	s.name(s.dec.buf[h.nameOff : h.nameOff+h.nameLen])
	return true
}

// identified reports whether the name of a thread, which the window has at an offset, is of no
// use, because the stream has reported its process's last, or it is of no process.
func (s *stream) identified(pid, tid uint64, nameOff, nameLen int) bool {
	p := &s.named
	if nameLen == 0 || !s.member.named(pid) {
		return true
	}
	return pid == p.pid && (pid != tid || string(s.dec.buf[nameOff:nameOff+nameLen]) == string(p.name[:p.length]))
}

func (s *stream) name(b []byte) {
	h, p := &s.head, &s.named
	first := h.pid == h.tid
	p.pid, p.length = trace.UnknownID, 0
	name, rest, _ := bytes.Cut(b, []byte{0})
	if len(name) == 0 || !utf8.Valid(name) || len(bytes.Trim(rest, "\x00")) > 0 {
		s.doubtful = min(s.doubtful, s.time)
	}
	known, ok := s.m.processes[h.pid]
	if len(name) == 0 || !ok && len(s.m.processes) == maxProcesses {
		return
	}
	p.pid = h.pid
	if first {
		p.length = copy(p.name[:], b)
	}
	if ok && !first || known.Name == string(name) {
		return
	}
	if valid := strings.ToValidUTF8(string(name), "\ufffd"); valid != known.Name {
		s.m.name(h.pid, trace.Process{Name: valid})
	}
}
