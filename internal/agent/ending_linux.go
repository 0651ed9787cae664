package agent

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An ending finds the signal that ended a process. Only the parent is notified of it.
// Others can read it while the process is a zombie, and from Linux 6.15 on through a
// pidfd.
type ending struct {
	pid int
	fd  int // of the process; negative for none
}

// watchEnding begins to watch a process that runs.
func watchEnding(pid int) *ending {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1
	}
	return &ending{pid, fd}
}

// A process closes its sockets before its end can be seen.
const (
	endingTries = 20
	endingPause = 5 * time.Millisecond
)

// signal returns the signal that ended the process, zero for none or unknown, and stops
// watching it. It does not wait for a process that is gone: otherwise the last of ten
// thousand would wait a quarter of an hour for the others.
func (e *ending) signal() int {
	defer e.stop()
	for range endingTries {
		status, now := e.zombie()
		if now == gone {
			status, now = e.reaped()
		}
		switch now {
		case ended:
			if w := syscall.WaitStatus(status); w.Signaled() {
				return int(w.Signal())
			}
			return 0
		case gone:
			return 0
		}
		time.Sleep(endingPause)
	}
	return 0
}

// runs reports whether the process, whose socket was closed, is not ending. A process that ends
// closes its sockets after all of its threads were marked, by PF_EXITING in their flags: see
// do_exit in kernel/exit.c. A system that shows no flags, such as gVisor, does not say.
func (e *ending) runs() bool {
	const flagsField, exiting = 9, 0x4
	fields := e.stat()
	if len(fields) <= flagsField-stateField || string(fields[0]) == "Z" {
		return false
	}
	flags, err := strconv.ParseUint(string(fields[flagsField-stateField]), 10, 32)
	return err == nil && flags != 0 && flags&exiting == 0
}

func (e *ending) stop() {
	if e.fd >= 0 {
		_ = unix.Close(e.fd)
		e.fd = -1
	}
}

// A stage of a process's end.
type stage int

const (
	running stage = iota
	ended         // its status can be read
	gone          // its status can no longer be read
)

// reaped returns the status of a process after its parent noticed its end.
func (e *ending) reaped() (status uint32, now stage) {
	if e.fd < 0 {
		return 0, gone
	}
	if err := unix.PidfdSendSignal(e.fd, 0, nil, 0); err != unix.ESRCH {
		return 0, running // and /proc hides it
	}
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if unix.IoctlPidfdInfo(e.fd, &info) != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, gone
	}
	return uint32(info.Exit_code), ended
}

// stateField is the first of the fields behind the name, from one.
const stateField = 3

// stat returns the fields of proc_pid_stat(5) behind the name, which is in parentheses, and may
// contain some; nil if the process is gone.
func (e *ending) stat() [][]byte {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(e.pid) + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
}

// zombie returns the status of a process until its parent notices its end.
func (e *ending) zombie() (status uint32, now stage) {
	const exitCode = 52
	fields := e.stat()
	if fields == nil {
		return 0, gone
	}
	if len(fields) <= exitCode-stateField || string(fields[0]) != "Z" {
		return 0, running
	}
	n, err := strconv.ParseUint(string(fields[exitCode-stateField]), 10, 32)
	if err != nil {
		return 0, running
	}
	return uint32(n), ended
}
