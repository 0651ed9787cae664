package proc

import (
	"errors"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
)

// A ProcessorReader reads the processor time of one process repeatedly. It is for use by one
// goroutine. Windows does not say how long threads wait for a processor.
type ProcessorReader struct {
	pid  uint32
	cost time.Duration // of all rounds
	threadTimes
}

// A Scan is empty.
type Scan struct{}

// NewProcessorReader returns a ProcessorReader of the process with a PID.
func NewProcessorReader(pid int) *ProcessorReader {
	return &ProcessorReader{pid: uint32(pid), threadTimes: newThreadTimes()}
}

// Limits returns no limits.
func (*ProcessorReader) Limits() clr.ProcessLimits { return clr.ProcessLimits{} }

// Read reads the times of the threads now. It returns an error if the process has ended or may
// not be read. The cost is the average of all readings, because Windows counts a thread's time
// in steps of 15.6 ms, and a reading takes less.
func (r *ProcessorReader) Read(*Scan) (ProcessorSample, error) {
	runtime.LockOSThread() // whose time is read
	defer runtime.UnlockOSThread()
	began, _ := threadTime(windows.CurrentThread())
	var s ProcessorSample
	ids, err := threadsOf(r.pid)
	if err != nil {
		return s, err
	}
	r.rounds++
	known := 0
	for _, id := range ids {
		if r.readThread(id) {
			known++
		}
	}
	r.forget()
	if known == 0 {
		return s, errors.New("the process has ended, or its threads may not be read")
	}
	s.Threads, s.Run = gc.Some(len(ids)), gc.Some(r.run)
	r.began = true
	r.countRoles(&s)
	ended, _ := threadTime(windows.CurrentThread())
	r.cost += ended - began
	s.Cost = r.cost / time.Duration(r.rounds)
	return s, nil
}

// readThread adds the time of a thread; false if it has ended, or may not be read.
func (r *ProcessorReader) readThread(id uint32) bool {
	thread, err := windows.OpenThread(windows.THREAD_QUERY_LIMITED_INFORMATION, false, id)
	if err != nil {
		return false
	}
	defer windows.CloseHandle(thread)
	run, ok := threadTime(thread)
	if ok {
		r.advance(strconv.FormatUint(uint64(id), 10), int64(run), 0, func() role { return roleOf([]byte(threadName(thread))) })
	}
	return ok
}

// threadsOf returns the ids of a process's threads.
func threadsOf(pid uint32) ([]uint32, error) {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0) // of every process
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(all)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	var ids []uint32
	for err = windows.Thread32First(all, &entry); err == nil; err = windows.Thread32Next(all, &entry) {
		if entry.OwnerProcessID == pid {
			ids = append(ids, entry.ThreadID)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	return ids, nil
}

var (
	kernel32             = windows.NewLazySystemDLL("kernel32.dll")
	getThreadTimes       = kernel32.NewProc("GetThreadTimes")
	getThreadDescription = kernel32.NewProc("GetThreadDescription") // since Windows 10 1607
)

// threadTime returns the processor time of a thread.
func threadTime(thread windows.Handle) (time.Duration, bool) {
	var created, exited, kernel, user windows.Filetime
	ok, _, _ := getThreadTimes.Call(uintptr(thread), uintptr(unsafe.Pointer(&created)), uintptr(unsafe.Pointer(&exited)),
		uintptr(unsafe.Pointer(&kernel)), uintptr(unsafe.Pointer(&user)))
	const unit = 100 * time.Nanosecond
	ticks := func(t windows.Filetime) time.Duration {
		return time.Duration(t.HighDateTime)<<32 | time.Duration(t.LowDateTime)
	}
	return (ticks(kernel) + ticks(user)) * unit, ok != 0
}

// threadName returns the name that a program gave a thread; empty if it gave none. The runtime
// names its threads by SetThreadDescription: see SetThreadName in its winfix.cpp.
func threadName(thread windows.Handle) string {
	if getThreadDescription.Find() != nil {
		return ""
	}
	var text *uint16
	if result, _, _ := getThreadDescription.Call(uintptr(thread), uintptr(unsafe.Pointer(&text))); int32(result) < 0 || text == nil {
		return ""
	}
	defer func() { _, _ = windows.LocalFree(windows.Handle(unsafe.Pointer(text))) }()
	return windows.UTF16PtrToString(text)
}
