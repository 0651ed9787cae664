package diag

import (
	"errors"
	"regexp"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gctrail/gctrail/internal/program"
)

// A finder looks for the pipes of processes, and for processes of .NET Framework, which
// has none.
type finder struct {
	mu       sync.Mutex
	examined map[uint32]examined // the processes without a pipe
}

func newFinder() *finder { return &finder{examined: make(map[uint32]examined)} }

var runtimePipe = regexp.MustCompile(`^dotnet-diagnostic-(?:dsrouter-)?(\d+)$`)

// pipesOf returns the names that the pipe of a process can have: a runtime's, and
// that of dotnet-dsrouter.
func pipesOf(pid uint32) [2]string {
	id := strconv.FormatUint(uint64(pid), 10)
	return [...]string{"dotnet-diagnostic-" + id, "dotnet-diagnostic-dsrouter-" + id}
}

// find returns the processes that have a pipe, and processes that load a runtime but have
// none. If the system cannot list its pipes (Wine), it tries the pipe name of each
// process.
func (f *finder) find() []*Process {
	running := runningProcesses()
	pipes, err := listPipes()
	if err != nil {
		pipes = pipesAmong(running)
	}
	var all []*Process
	for _, name := range pipes {
		m := runtimePipe.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if pid, err := strconv.ParseUint(m[1], 10, 32); err == nil {
			all = append(all, processAt(uint32(pid), name, running[uint32(pid)]))
			delete(running, uint32(pid))
		}
	}
	return append(all, f.withoutPipe(running)...)
}

// candidates returns the process with a PID, if it has a pipe or loads a runtime. It
// needs no list of pipes.
func (f *finder) candidates(pid int) []*Process {
	if pid <= 0 || uint64(pid) > uint64(^uint32(0)) {
		return nil
	}
	id := uint32(pid)
	file := runningProcesses()[id]
	for _, name := range pipesOf(id) {
		if pipeExists(name) {
			return []*Process{processAt(id, name, file)}
		}
	}
	return f.withoutPipe(map[uint32]string{id: file})
}

func processAt(pid uint32, pipe, file string) *Process {
	return &Process{
		PID: int(pid), InnerPID: int(pid), Name: program.Base(file), Address: pipeFolder + pipe, Started: started(pid),
	}
}

// listPipes returns the names of all pipes. An empty list is an error, because Windows
// always has some.
func listPipes() ([]string, error) {
	all, err := windows.UTF16PtrFromString(pipeFolder + "*")
	if err != nil {
		return nil, err
	}
	var data windows.Win32finddata
	h, err := windows.FindFirstFile(all, &data)
	if err != nil {
		return nil, err
	}
	defer windows.FindClose(h)
	var names []string
	for err == nil {
		names = append(names, windows.UTF16ToString(data.FileName[:]))
		err = windows.FindNextFile(h, &data)
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		err = nil
	}
	return names, err
}

// pipesAmong returns the diagnostic pipes of processes.
func pipesAmong(running map[uint32]string) []string {
	var names []string
	for pid := range running {
		for _, name := range pipesOf(pid) {
			if pipeExists(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

var waitNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("WaitNamedPipeW")

// pipeExists reports whether there is a pipe of a name. It does not connect, because all
// instances of the pipe may be taken.
func pipeExists(name string) bool {
	p, err := windows.UTF16PtrFromString(pipeFolder + name)
	if err != nil {
		return false
	}
	const shortest = 1 // ms; 0 would be the pipe's own time limit
	free, _, err := waitNamedPipe.Call(uintptr(unsafe.Pointer(p)), shortest)
	return free != 0 || errors.Is(err, windows.ERROR_SEM_TIMEOUT) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// started returns the time when a process was created; zero if that cannot be
// asked.
func started(pid uint32) time.Time {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
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

// startOf returns the time when a process was created; zero if unknown.
func (f *finder) startOf(pid int) time.Time { return started(uint32(pid)) }

// forget makes the next look examine a process again.
func (f *finder) forget(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.examined, uint32(pid))
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

// noBlock is zero, because no file blocks here when it is opened.
const noBlock = 0
