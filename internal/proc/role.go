//go:build linux || windows

package proc

import (
	"bytes"

	"github.com/gctrail/gctrail/gc"
)

// A role is the purpose of a thread, by the name that the runtime gives it.
type role int

const (
	otherRole   role = iota // of the program, or of a library
	runtimeRole             // the runtime's, for another purpose
	serverRole
	backgroundRole
)

// roleNames has the beginning of the name of each role's threads. See gc_thread_stub and
// create_bgc_thread in the runtime's gc.cpp.
var roleNames = [...]string{runtimeRole: ".NET ", serverRole: ".NET Server GC", backgroundRole: ".NET BGC"}

// askings is in how many rounds a thread's name is read, because a new thread has the name of
// the one that made it until it is given its own.
const askings = 2

// roleOf returns the role of the threads with a name.
func roleOf(name []byte) role {
	for r := backgroundRole; r > otherRole; r-- {
		if bytes.HasPrefix(name, []byte(roleNames[r])) {
			return r
		}
	}
	return otherRole
}

// countRoles adds the figures of the threads that collect, if the runtime names its threads.
func (r *threadTimes) countRoles(s *ProcessorSample) {
	named, collecting := false, 0
	for _, t := range r.threads {
		named = named || t.role != otherRole
		if t.role == serverRole || t.role == backgroundRole {
			collecting++
		}
	}
	if named {
		s.GCThreads, s.ServerGC, s.BackgroundGC = gc.Some(collecting), gc.Some(r.roles[serverRole]), gc.Some(r.roles[backgroundRole])
	}
}
