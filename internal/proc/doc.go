// Package proc reads the system's figures on a process with few system calls: its memory and
// processor time, and the limits and use of its cgroups, from small files of /proc and /sys.
package proc

import "errors"

// ErrUnsupported reports a system other than Linux.
var ErrUnsupported = errors.New("the memory and the processor time of processes are read on Linux only")
