package lttng

import (
	"cmp"
	"errors"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Options select the events of a session.
type Options struct {
	Path     string   // of its folder, which LTTng makes
	Events   []string // tracepoints, such as "DotNETRuntime:GCStart_V2"
	PIDs     []int    // only events of these processes, in their own namespaces; nil means all
	BufferMB uint32   // for each processor; 0 means 8
}

// A Session writes events to a folder until it is stopped. Its methods must not be
// called concurrently.
type Session struct {
	system  *System
	name    string
	path    string
	stopped bool
}

const (
	namePrefix = "gctrail-"
	channel    = "gctrail"
	// Buffers of a processor: as many of the default size as a burst of events needs.
	defaultMB  = 8
	subBuffers = 4
	// switchTimer is how often LTTng writes buffers that are not full, in microseconds.
	// If the machine crashes, the trace lacks about that time.
	switchTimer = "1000000"
)

// contexts are added to each event: the process, the thread, and the process's name.
var contexts = []string{"vpid", "vtid", "procname"}

// Start starts a session that is named after this process. Sessions of gctrail
// processes that no longer run are ended first.
func Start(system *System, o *Options) (*Session, error) {
	EndOrphans(system)
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, err
	}
	s := &Session{system: system, name: namePrefix + strconv.Itoa(os.Getpid()), path: path}
	if err := s.run("create", s.name, "--output="+path); err != nil {
		return nil, err
	}
	for _, args := range s.commands(o) {
		if err := s.run(args...); err != nil {
			return nil, errors.Join(err, s.destroy())
		}
	}
	return s, nil
}

// commands returns the commands that follow the session's creation.
func (s *Session) commands(o *Options) [][]string {
	of := "--session=" + s.name
	to := "--channel=" + channel
	subBuffer := uint64(cmp.Or(o.BufferMB, defaultMB)) << 20 / subBuffers
	all := [][]string{{
		"enable-channel", "--userspace", of, "--num-subbuf=" + strconv.Itoa(subBuffers),
		"--subbuf-size=" + strconv.FormatUint(powerOfTwo(subBuffer), 10), "--switch-timer=" + switchTimer, channel,
	}}
	if len(o.PIDs) > 0 {
		ids := make([]string, len(o.PIDs))
		for i, pid := range o.PIDs {
			ids[i] = strconv.Itoa(pid)
		}
		all = append(all, []string{"track", "--userspace", of, "--vpid=" + strings.Join(ids, ",")})
	}
	all = append(all, []string{"enable-event", "--userspace", of, to, strings.Join(o.Events, ",")})
	add := []string{"add-context", "--userspace", of, to}
	for _, c := range contexts {
		add = append(add, "--type="+c)
	}
	return append(all, add, []string{"start", s.name})
}

// powerOfTwo returns the next power of two, which LTTng demands.
func powerOfTwo(n uint64) uint64 { return 1 << bits.Len64(n-1) }

// Stop ends the session, when LTTng has written all events. Later calls do nothing.
func (s *Session) Stop() error {
	if s.stopped {
		return nil
	}
	return errors.Join(s.run("stop", s.name), s.destroy())
}

func (s *Session) destroy() error {
	s.stopped = true
	return s.run("destroy", s.name)
}

func (s *Session) run(args ...string) error {
	_, err := s.system.Run(args...)
	return err
}

var listedSession = regexp.MustCompile(`<name>(` + namePrefix + `(\d+))</name>`)

// EndOrphans ends sessions of gctrail processes that no longer run: they were killed,
// and would write until the disk is full.
func EndOrphans(system *System) {
	listed, err := system.Run("--mi=xml", "list")
	if err != nil {
		return // no session daemon runs, or it cannot be asked
	}
	var ended []string
	for _, m := range listedSession.FindAllSubmatch(listed, -1) {
		name := string(m[1])
		pid, err := strconv.Atoi(string(m[2]))
		if err == nil && pid != os.Getpid() && !system.Runs(pid) && !slices.Contains(ended, name) {
			_, _ = system.Run("stop", name) // another gctrail may have done it
			_, _ = system.Run("destroy", name)
			ended = append(ended, name)
		}
	}
}
