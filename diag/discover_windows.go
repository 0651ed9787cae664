package diag

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// A finder looks for the pipes of processes.
type finder struct{}

func newFinder() *finder { return new(finder) }

var runtimePipe = regexp.MustCompile(`^dotnet-diagnostic-(?:dsrouter-)?(\d+)$`)

// find returns the processes that have a pipe. Pipes end with their process.
func (f *finder) find() []*Process {
	entries, err := os.ReadDir(pipeFolder)
	if err != nil {
		return nil
	}
	var all []*Process
	for _, e := range entries {
		m := runtimePipe.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		if pid, err := strconv.Atoi(m[1]); err == nil {
			all = append(all, &Process{PID: pid, InnerPID: pid, Address: pipeFolder + e.Name(), Started: started(pid)})
		}
	}
	return all
}

// started returns the time when a process was created; zero if that cannot be
// asked.
func started(pid int) time.Time {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return time.Time{}
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
		return time.Time{}
	}
	return time.Unix(0, created.Nanoseconds())
}

// missing returns why there is no .NET process with a PID.
func (f *finder) missing(pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return ErrNoProcess
	}
	if err == nil {
		windows.CloseHandle(h)
	}
	return ErrNotDotnet
}

// stopped is not known here.
func stopped(int) bool { return false }

// noBlock has no meaning here: no file blocks when it is opened.
const noBlock = 0
