package ctf

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// A process is a thread's process and the name that the thread has.
type process struct {
	pid, tid uint64
	length   int
	name     [16]byte
}

// maxProcesses bounds the processes of a trace.
const maxProcesses = 1 << 16

// environment takes from the metadata, or else from the names of its folders,
// what a trace says of the traced program.
func (m *member) environment() {
	env := m.meta.Env
	switch {
	case env["architecture_bit_width"] == "32":
		m.pointerSize = 4
	case env["architecture_bit_width"] == "64":
		m.pointerSize = 8
	case strings.HasSuffix(m.dir, "32-bit"):
		m.pointerSize = 4
	default:
		m.pointerSize = 8
	}
	if pid, err := strconv.ParseUint(env["vpid"], 10, 32); err == nil {
		m.pid, m.process = pid, env["procname"]
	}
}

// identify finds the process and thread of the next event.
func (s *stream) identify() {
	d := &s.dec
	s.noPID = false
	switch {
	case d.has(roleVPID):
		s.pid = uint64(uint32(d.roles[roleVPID]))
	case d.has(rolePID):
		s.pid = uint64(uint32(d.roles[rolePID]))
	case s.member.pid != 0:
		s.pid = s.member.pid
	default:
		s.pid, s.noPID = trace.UnknownID, true
	}
	switch {
	case d.has(roleVTID):
		s.tid = uint64(uint32(d.roles[roleVTID]))
	case d.has(roleTID):
		s.tid = uint64(uint32(d.roles[roleTID]))
	case d.has(rolePthread):
		s.tid = d.roles[rolePthread]
	default:
		s.tid = trace.UnknownID
	}
	if d.has(roleProcname) && !s.member.kernel && !s.noPID {
		s.name()
	}
}

// name takes in the name of the next event's thread. That of the first thread
// is the process's; until that is seen, any thread's.
func (s *stream) name() {
	d := &s.dec
	b := d.buf[d.spans[1].off : d.spans[1].off+d.spans[1].n]
	p := &s.named
	if p.pid == s.pid && p.tid == s.tid && bytes.HasPrefix(b, p.name[:p.length]) &&
		(len(b) == p.length || b[p.length] == 0 || p.length == len(p.name)) {
		return
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	p.pid, p.tid = s.pid, s.tid
	p.length = copy(p.name[:], b)
	known, ok := s.m.processes[s.pid]
	if len(b) == 0 || ok && s.pid != s.tid || !ok && len(s.m.processes) == maxProcesses {
		return
	}
	if known.Name != string(b) {
		s.m.name(s.pid, trace.Process{Name: strings.ToValidUTF8(string(b), "\ufffd")})
	}
}
