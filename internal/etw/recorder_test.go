package etw

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf16"
)

// A callRecorder is a system that records calls, and writes a file only if a test has it write.
type callRecorder struct {
	calls   []string
	started map[string]properties // sessions that run, by name
	handles map[uint64]string     // names
	dead    []int                 // PIDs that do not run
	fail    map[string]error      // by call
	first   []byte                // written to the file when the session starts
	lost    Loss
	free    int64             // on the disk
	turned  func(path string) // is called when a session is to continue in another file
	queried func()            // is called when a session is queried
}

func newRecorder() *callRecorder {
	return &callRecorder{started: map[string]properties{}, handles: map[uint64]string{}, fail: map[string]error{}, free: 1 << 40}
}

func (f *callRecorder) record(format string, args ...any) {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *callRecorder) StartTrace(session string, b []byte) (uint64, error) {
	p := properties(b)
	f.record("StartTrace %s buffer %d KB, %d to %d, mode %#x, flush %d s, clock %d, flags %#x, session flags %#x", p.sessionName(),
		le.Uint32(p[offBufferKB:]), le.Uint32(p[offMinBuffers:]), le.Uint32(p[offMaxBuffers:]), le.Uint32(p[offMode:]),
		le.Uint32(p[offFlushTimer:]), le.Uint32(p[offClock:]), le.Uint32(p[offWnodeFlags:]), le.Uint32(p[offEnableFlags:]))
	if err := f.fail["StartTrace"]; err != nil {
		return 0, err
	}
	if f.started[session] != nil {
		return 0, StatusExists
	}
	f.started[session] = slices.Clone(p)
	if f.first != nil {
		if err := os.WriteFile(p.fileName(), f.first, 0o600); err != nil {
			return 0, err
		}
	}
	handle := uint64(0x101 + len(f.handles))
	f.handles[handle] = session
	return handle, nil
}

// fileName returns the name behind the properties.
func (p properties) fileName() string {
	var units []uint16
	for b := p[le.Uint32(p[offFileName:]):]; le.Uint16(b) != 0; b = b[2:] {
		units = append(units, le.Uint16(b))
	}
	return string(utf16.Decode(units))
}

func (f *callRecorder) Enable(handle uint64, e *Enabling) error {
	f.record("EnableTraceEx2 %#x provider %x code %d level %d any %#x all %#x timeout %d property %#x",
		handle, e.Provider, e.Code, e.Level, e.Any, e.All, e.Timeout, e.Parameters.Property)
	for _, filter := range e.Parameters.Filters {
		f.record("  filter %#x %s", filter.Type, hex.EncodeToString(filter.Data))
	}
	return f.fail["Enable"]
}

func (f *callRecorder) Control(handle uint64, session string, b []byte, code uint32) error {
	session = cmp.Or(session, f.handles[handle])
	f.record("ControlTrace %#x %s code %d", handle, session, code)
	if code == controlQuery && f.queried != nil {
		f.queried()
	}
	if f.started[session] == nil {
		return StatusNoSession
	}
	le.PutUint32(b[offEventsLost:], f.lost.Events)
	le.PutUint32(b[offBuffersLost:], f.lost.Buffers)
	switch code {
	case controlQuery:
		return f.fail["Query"]
	case controlStop:
		delete(f.started, session)
		return f.fail["Stop"]
	case controlUpdate:
		p := properties(b)
		f.record("  to %s, flags %#x, session flags %#x", filepath.Base(p.fileName()), le.Uint32(p[offWnodeFlags:]), le.Uint32(p[offEnableFlags:]))
		if err := f.fail["Update"]; err != nil {
			return err
		}
		f.turned(p.fileName())
	}
	return nil
}

func (f *callRecorder) SetInformation(handle uint64, class uint32, info []byte) error {
	f.record("TraceSetInformation %#x class %d %x", handle, class, info)
	return f.fail["SetInformation"]
}

func (f *callRecorder) QueryAll(all [][]byte) (int, error) {
	n := 0
	for name := range f.started {
		putName(all[n][sessionNameOffset:], name)
		n++
	}
	return n, nil
}

func (f *callRecorder) Runs(pid int) bool { return !slices.Contains(f.dead, pid) }

func (f *callRecorder) Free(string) (int64, bool) { return f.free, f.free >= 0 }
