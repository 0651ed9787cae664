package proc

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestProcessorSelf reads the test's own threads, one of which has the name of a GC's, until
// the system has counted time of it.
func TestProcessorSelf(t *testing.T) {
	setThreadDescription := kernel32.NewProc("SetThreadDescription")
	if setThreadDescription.Find() != nil {
		t.Skip("this Windows does not name threads")
	}
	named := make(chan uint32)
	var done atomic.Bool
	defer done.Store(true)
	go func() {
		runtime.LockOSThread() // for good: nothing else may run on it
		name, _ := windows.UTF16PtrFromString(".NET BGC")
		_, _, _ = setThreadDescription.Call(uintptr(windows.CurrentThread()), uintptr(unsafe.Pointer(name)))
		named <- windows.GetCurrentThreadId()
		for rounds := 0; !done.Load(); rounds++ { // spends processor time
		}
	}()
	id := <-named
	r := NewProcessorReader(os.Getpid())
	s, err := r.Read(new(Scan))
	if err != nil || s.Run.Or(-1) != 0 || s.GCThreads.Or(0) != 1 || s.Wait.Known() || s.Threads.Or(0) < 2 {
		t.Fatalf("%+v, %v; thread %d", s, err, id)
	}
	for range 1 << 16 {
		if s, err = r.Read(new(Scan)); err != nil || s.BackgroundGC.Or(0) > 0 {
			break
		}
	}
	if err != nil || s.BackgroundGC.Or(0) <= 0 || s.BackgroundGC.Or(0) > s.Run.Or(0) || s.ServerGC.Or(-1) != 0 || s.Wait.Known() {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestProcessorGone reads a process that does not exist: ids are multiples of four.
func TestProcessorGone(t *testing.T) {
	if s, err := NewProcessorReader(3).Read(new(Scan)); err == nil {
		t.Errorf("%+v", s)
	}
}
