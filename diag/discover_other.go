//go:build !linux && !windows

package diag

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A finder looks for processes in folders for temporary files.
type finder struct {
	folders []string
}

// newFinder returns a finder. It looks in /tmp too, because a runtime without TMPDIR,
// such as a daemon's, uses that (GetTempPathA of its PAL).
func newFinder() *finder { return &finder{folders: []string{os.TempDir(), "/tmp"}} }

// find returns the processes that have a socket, the newest of each.
func (f *finder) find() []*Process {
	type found struct {
		socket
		path string
	}
	newest := make(map[int]found)
	for _, folder := range f.folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			s, ok := socketOf(e)
			if !ok || e.Type() != fs.ModeSocket {
				continue
			}
			if old, ok := newest[s.pid]; !ok || s.created.After(old.created) {
				newest[s.pid] = found{s, filepath.Join(folder, s.name)}
			}
		}
	}
	var all []*Process
	for _, s := range newest {
		all = append(all, &Process{PID: s.pid, InnerPID: s.pid, Address: s.path, Started: s.started(), stale: true})
	}
	return all
}

// started returns the time in the name of the socket: seconds since 1970.
func (s *socket) started() time.Time {
	seconds, err := strconv.ParseInt(s.key, 10, 64)
	if err != nil || s.cut {
		return s.created
	}
	return time.Unix(seconds, 0)
}

// candidates returns all processes, because the sockets have to be listed anyway.
func (f *finder) candidates(int) []*Process { return f.find() }

// startOf returns the time when a process was started; zero if unknown.
func (f *finder) startOf(pid int) time.Time { return startTime(pid) }

// forget does nothing, because all processes are examined at each look.
func (f *finder) forget(int) {}

// missing returns why there is no .NET process with a PID.
func (f *finder) missing(pid int) error {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return ErrNoProcess
	}
	return ErrNotDotnet
}

// stopped is not known here.
func stopped(int) bool { return false }

// noBlock are the flags that keep the opening of a named pipe, and of a symbolic
// link to one, from blocking.
const noBlock = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
