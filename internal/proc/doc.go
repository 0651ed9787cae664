// Package proc reads the system's figures on a process with few system calls: its memory and
// processor time, and the limits and use of its cgroups, from small files of /proc and /sys.
// On Windows, it reads the times of threads. A Stream adds the figures to the trace of a session.
package proc

import "errors"

// ErrUnsupported reports a system whose figures are not read.
var ErrUnsupported = errors.New("the memory of processes is read on Linux only, their processor time on Linux and Windows only")
