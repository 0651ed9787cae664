package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/gc"
)

// A ProcessorReader reads the processor time of one process repeatedly. It is for use by one
// goroutine.
type ProcessorReader struct {
	root   string // where /proc and /sys lie; empty but in tests
	folder string // of the process in /proc
	group  group
	threadTimes
}

// A group is the cgroup that limits the processor time of a process.
type group struct {
	stat, pressure string // paths; empty if there is none
	v2             bool
	quota, period  time.Duration
}

// A Scan holds figures that several readers need in one round, so that they are read
// once. The zero Scan is empty; use a new one for each round.
type Scan struct {
	machine  *machine // nil before it was read
	throttle map[string]throttling
	pressure map[string]gc.Opt[time.Duration]
}

// A machine holds the figures of all processors.
type machine struct{ stalled, busy, stolen gc.Opt[time.Duration] }

type throttling struct {
	periods, throttled gc.Opt[int64]
	time               gc.Opt[time.Duration]
}

// NewProcessorReader returns a ProcessorReader of the process with a PID.
func NewProcessorReader(pid int) *ProcessorReader { return newProcessorReader("", pid) }

func newProcessorReader(root string, pid int) *ProcessorReader {
	return &ProcessorReader{root: root, folder: filepath.Join(root, "/proc", strconv.Itoa(pid)), threadTimes: newThreadTimes()}
}

// Read reads the counters now. It returns an error if the process has ended or may not be
// read. Call Limits before, which finds the cgroup whose counters Read reads.
func (r *ProcessorReader) Read(scan *Scan) (ProcessorSample, error) {
	runtime.LockOSThread() // whose time is read
	defer runtime.UnlockOSThread()
	began := threadTime()
	b := Borrow()
	defer b.GiveBack()
	var s ProcessorSample
	if err := r.readThreads(b, &s); err != nil {
		return s, err
	}
	if r.group.stat != "" {
		t := scan.throttling(b, &r.group)
		s.Periods, s.Throttled, s.ThrottledFor = t.periods, t.throttled, t.time
		s.Cgroup = scan.stalled(b, r.group.pressure)
	}
	m := scan.ofMachine(b, r.root)
	s.Machine, s.Busy, s.Stolen = m.stalled, m.busy, m.stolen
	s.Cost = threadTime() - began
	return s, nil
}

// threadTime returns the processor time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // which each Linux has
	return time.Duration(t.Nano())
}

// readThreads adds up how long the process's threads ran and waited since the last round.
func (r *ProcessorReader) readThreads(b *Buffer, s *ProcessorSample) error {
	folder, err := os.Open(filepath.Join(r.folder, "task"))
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return err
	}
	r.rounds++
	known, ran := 0, false
	for _, name := range names {
		text, err := b.Read(folder.Name() + "/" + name + "/schedstat")
		if err != nil {
			continue // it has ended
		}
		var n [2]int64
		if !numbers(text, n[:]) {
			continue
		}
		known++
		ran = ran || n[0] > 0
		r.advance(name, n[0], n[1], func() role {
			comm, _ := b.Read(folder.Name() + "/" + name + "/comm") // it has ended
			return roleOf(comm)
		})
	}
	r.forget()
	s.Threads = gc.Some(len(names))
	if known > 0 && (ran || r.run > 0) { // else the kernel does not count
		s.Run, s.Wait = gc.Some(r.run), gc.Some(r.wait)
		r.began = true
		r.countRoles(s)
	}
	return nil
}

// numbers reads as many numbers as there is room for.
func numbers(text []byte, to []int64) bool {
	fields := bytes.Fields(text)
	if len(fields) < len(to) {
		return false
	}
	for i := range to {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil || n < 0 {
			return false
		}
		to[i] = n
	}
	return true
}
