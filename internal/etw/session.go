package etw

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Options select the events of a session.
type Options struct {
	Path      string // of its file; an existing one is replaced by Follower.Join
	Providers []Provider
	PIDs      []int  // only events of these processes, MaxPIDs at most; nil means all
	BufferMB  uint32 // 0 means 64
	Limits    Limits // of the retained events
}

// A Provider is a source of events.
type Provider struct {
	GUID     [16]byte // as Windows lays it out
	Level    uint8
	Keywords uint64
	Events   []uint32 // only these ids, MaxEventIDs at most; nil means all
	Except   []uint32 // if Events is nil, all but these ids
	Stacks   bool
}

var (
	// ErrNoFile reports a session that Windows claims to have started, but that writes
	// nothing.
	ErrNoFile = errors.New("the session writes no file")
	// ErrName reports a name that is too long for Windows.
	ErrName = errors.New("the path is too long")
	// ErrDiskFull reports a session that has no room to write.
	ErrDiskFull = errors.New("the disk is full")
	// ErrStopped reports a session that ended though gctrail has not stopped it.
	ErrStopped = errors.New("another tool stopped the ETW session")
)

// A Session writes events to a file until it is stopped. Its methods must not be called
// concurrently.
type Session struct {
	system  System
	name    string
	handle  uint64
	trace   string // path of the file that is asked for
	path    string // of the file that is written first
	limits  Limits
	flags   uint32 // of the kernel's events
	pids    []int
	stopped bool
	loss    Loss
}

const (
	namePrefix   = "gctrail-"
	kernelSuffix = "-kernel"
	// afterStop is how long a session of the same name may take to end, as PerfView
	// waits.
	afterStop = 100 * time.Millisecond
)

// Start starts a session that is named after this process. Sessions of gctrail
// processes that no longer run are stopped first.
func Start(system System, o *Options) (*Session, error) {
	stopOrphans(system)
	s := &Session{system: system, name: namePrefix + strconv.Itoa(os.Getpid()), trace: o.Path, limits: o.Limits, pids: o.PIDs}
	mb := cmp.Or(o.BufferMB, defaultMB)
	p, err := s.properties(mb * 1024 / bufferKB)
	if err != nil {
		return nil, err
	}
	if err := s.start(p); err != nil {
		return nil, err
	}
	for i := range o.Providers {
		if err := s.enable(&o.Providers[i], o.PIDs); err != nil {
			return nil, errors.Join(err, s.abandon())
		}
	}
	return s, nil
}

// StartKernel starts the session with the starts, ends and names of processes and, if
// images is set, of the files that they map, which name native frames of stacks. It
// needs an administrator. It is not the one session that is named NT Kernel Logger,
// which other tools may use (Windows 8 and later).
func StartKernel(system System, path string, limits Limits, images bool) (*Session, error) {
	s := &Session{system: system, name: namePrefix + strconv.Itoa(os.Getpid()) + kernelSuffix, trace: path, limits: limits, flags: kernelProcess}
	buffers := uint32(kernelBuffers)
	if images {
		s.flags |= kernelImageLoad
		buffers = defaultMB * 1024 / bufferKB // they are listed at once for all processes
	}
	p, err := s.properties(buffers)
	if err != nil {
		return nil, err
	}
	le.PutUint32(p[offMode:], le.Uint32(p[offMode:])|modeSystemLogger)
	if err := s.start(p); err != nil {
		return nil, err
	}
	flags := le.AppendUint64(nil, uint64(s.flags))
	if err := system.SetInformation(s.handle, infoSystemEvents, flags); err != nil {
		return nil, errors.Join(&Error{"TraceSetInformation", s.name, err}, s.abandon())
	}
	return s, nil
}

// KernelPath returns the path of the file with the processes of a trace.
func KernelPath(path string) string {
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + ".kernel" + ext
}

func (s *Session) properties(minBuffers uint32) (properties, error) {
	trace, err := filepath.Abs(s.trace) // Windows writes the file, from another folder
	if err != nil {
		return nil, err
	}
	s.trace, s.path = trace, trace
	if _, err := os.Lstat(trace); s.limits != (Limits{}) || err == nil {
		s.path = nextSegment(trace, new(int))
	}
	if len([]rune(s.path)) >= maxName/2 {
		return nil, &Error{"StartTrace", s.name, ErrName}
	}
	return newProperties(s.name, s.path, minBuffers), nil
}

// switchTo has the session continue in another file.
func (s *Session) switchTo(path string) error {
	p := forControl()
	le.PutUint32(p[offWnodeFlags:], flagTracedGUID)
	le.PutUint32(p[offEnableFlags:], s.flags) // 0 would end a system session's events
	putName(p[fileNameOffset:], path)
	if err := s.system.Control(s.handle, "", p, controlUpdate); err != nil {
		return &Error{"ControlTrace", s.name, err}
	}
	return nil
}

// start starts the session. It replaces one of the same name, because that was left by an
// earlier process with this PID.
func (s *Session) start(p properties) error {
	var err error
	s.handle, err = s.system.StartTrace(s.name, p)
	if errors.Is(err, StatusExists) {
		_ = s.system.Control(0, s.name, forControl(), controlStop) // or starting fails again
		time.Sleep(afterStop)
		s.handle, err = s.system.StartTrace(s.name, p)
	}
	if err != nil {
		return &Error{"StartTrace", s.name, err}
	}
	return nil
}

// enable enables a provider, limited to the events of these processes; nil means all. It may be
// called concurrently with other methods.
func (s *Session) enable(p *Provider, pids []int) error {
	e := Enabling{Provider: p.GUID, Code: codeEnable, Level: p.Level, Any: p.Keywords}
	if len(pids) > 0 {
		e.Parameters.Filters = append(e.Parameters.Filters, onlyPIDs(pids))
	}
	switch {
	case p.Events != nil:
		e.Parameters.Filters = append(e.Parameters.Filters, onlyEvents(p.Events, false))
	case p.Except != nil:
		e.Parameters.Filters = append(e.Parameters.Filters, onlyEvents(p.Except, true))
	}
	if p.Stacks {
		e.Parameters.Property |= propertyStacks
	}
	if len(pids) > MaxPIDs || len(p.Events) > MaxEventIDs || len(p.Except) > MaxEventIDs {
		return fmt.Errorf("a session can select %d processes and %d events at most", MaxPIDs, MaxEventIDs)
	}
	if err := s.system.Enable(s.handle, &e); err != nil {
		return &Error{"EnableTraceEx2", s.name, err}
	}
	return nil
}

// Path returns the absolute path of the trace.
func (s *Session) Path() string { return s.trace }

// Query returns the session's loss so far. The error is StatusNoSession if somebody has
// stopped it.
func (s *Session) Query() (Loss, error) { return s.control(controlQuery) }

// Stop ends the session. Its file is then complete. Later calls do nothing.
func (s *Session) Stop() error {
	if s.stopped {
		return nil
	}
	s.stopped = true
	_, err := s.control(controlStop)
	if errors.Is(err, StatusNoSession) {
		return nil
	}
	if err != nil {
		_, _ = s.control(controlStop) // the first error counts
	}
	return err
}

// abandon ends a session that has recorded nothing, and removes its file.
func (s *Session) abandon() error {
	err := s.Stop()
	_ = os.Remove(s.path) // Windows may not have created it
	return err
}

// full reports whether the disk of the trace has no room for more.
func (s *Session) full() bool {
	free, known := s.system.Free(filepath.Dir(s.trace))
	return known && free < fullBelow
}

// Loss returns the session's loss according to its latest query.
func (s *Session) Loss() Loss { return s.loss }

func (s *Session) control(code uint32) (Loss, error) {
	p := forControl()
	if err := s.system.Control(s.handle, "", p, code); err != nil {
		return s.loss, &Error{"ControlTrace", s.name, err}
	}
	s.loss = p.loss()
	return s.loss, nil
}

// maxSessions bounds the sessions of a machine; Windows allows 64, or 256 if it is
// configured so.
const maxSessions = 256

// stopOrphans stops sessions of gctrail processes that no longer run: they were
// killed, and would write until the disk is full.
func stopOrphans(system System) {
	all := make([][]byte, maxSessions)
	for i := range all {
		all[i] = forControl()
	}
	n, err := system.QueryAll(all)
	if err != nil {
		return // they cannot be stopped either
	}
	for _, p := range all[:min(n, len(all))] {
		name := properties(p).sessionName()
		if rest, ok := orphaned(system, name, namePrefix); ok && (rest == "" || rest == kernelSuffix) {
			_ = system.Control(0, name, forControl(), controlStop) // another gctrail may have done it
		}
	}
}

// orphaned reports whether a name is the prefix and the PID of another process, which no
// longer runs, and returns what follows them.
func orphaned(system System, name, prefix string) (rest string, ok bool) {
	id, ok := strings.CutPrefix(name, prefix)
	rest = strings.TrimLeft(id, "0123456789")
	pid, err := strconv.Atoi(strings.TrimSuffix(id, rest))
	return rest, ok && err == nil && pid > 0 && pid != os.Getpid() && !system.Runs(pid)
}
