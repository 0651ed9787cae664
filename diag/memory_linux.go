package diag

import (
	"io/fs"
	"maps"
	"sync"
	"syscall"
	"time"
)

// A memory saves the results of earlier looks, so that unchanged processes need not be
// examined and queried again. It is not trusted: every connection is still checked by its
// endpoint.
type memory struct {
	mu        sync.Mutex
	sightings map[int]*sighting // by PID
	dead      map[stamp]bool    // sockets without a listener
}

func newMemory() *memory {
	return &memory{sightings: make(map[int]*sighting), dead: make(map[stamp]bool)}
}

// A sighting is the result of examining a process, or a socket of no process.
type sighting struct {
	stat
	inner    int
	process  *Process  // nil if it is no .NET process
	endpoint *endpoint // of a .NET process
	socket   stamp     // behind the endpoint
	until    time.Time
}

// A stamp distinguishes a file from earlier and later ones with the same name or
// inode.
type stamp struct {
	fileID
	changed syscall.Timespec
}

func stampOf(info fs.FileInfo) stamp {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{idOf(info), st.Ctim}
}

const (
	// memorable is how long a process counts as not being .NET. A younger process is
	// examined again when it has run for twice as long, because it may have been about to
	// load .NET.
	memorable = 30 * time.Second
	// answered is how long an answer holds.
	answered = 5 * time.Minute
	// settled is the age from which a socket that refuses a connection counts as dead. A
	// newer one may have been created just before its runtime listens.
	settled = 10 * time.Second
)

// recall returns the sighting of a process; nil if the process has to be examined. A
// process that does not run is always examined, because it cannot answer.
func (l *look) recall(pid int, st *stat) *sighting {
	l.memory.mu.Lock()
	s := l.memory.sightings[pid]
	l.memory.mu.Unlock()
	switch {
	case s == nil, s.comm != st.comm, s.start != st.start, !st.runs(), !time.Now().Before(s.until):
		return nil
	case s.process == nil:
		for _, c := range l.named[s.inner] {
			if c.of(s.inner, s.start) {
				return nil
			}
		}
		return s
	}
	at, info, err := s.endpoint.open()
	if err != nil {
		return nil
	}
	at.Close()
	if stampOf(info) != s.socket {
		return nil
	}
	l.seen[s.socket.fileID] = true
	return s
}

// foreign notes that a process is no .NET process.
func (l *look) foreign(pid, inner int, st *stat) {
	age := memorable
	if started := l.started(st); !started.IsZero() {
		age = min(age, time.Since(started))
	}
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.memory.sightings[pid] = &sighting{stat: *st, inner: inner, until: time.Now().Add(age)}
}

// remember stores the answers of processes, and which sockets are dead.
func (f *finder) remember(asked []*Process) {
	f.memory.mu.Lock()
	defer f.memory.mu.Unlock()
	for _, p := range asked {
		s := p.sighting
		switch {
		case s == nil:
		case p.PID != 0 && p.Info != nil && p.Err == nil && !p.stale:
			p.sighting = nil
			s.process, s.until = p, time.Now().Add(answered)
			f.memory.sightings[p.PID] = s
		case p.stale && refused(p.Err) && time.Since(time.Unix(s.socket.changed.Unix())) > settled:
			f.memory.dead[s.socket] = true
		}
	}
}

func (m *memory) buried(socket stamp) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead[socket]
}

// forget drops processes that have ended and sockets that no longer exist.
func (m *memory) forget(pids map[int]bool, sockets map[stamp]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.sightings, func(pid int, _ *sighting) bool { return !pids[pid] })
	maps.DeleteFunc(m.dead, func(s stamp, _ bool) bool { return !sockets[s] })
}
