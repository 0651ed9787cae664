package trial

import (
	"context"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// peak finds the most memory that a process had: its peak working set, which can be asked for
// as long as a handle of the process is open.
type peak struct{ process windows.Handle }

var getProcessMemoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// memoryCounters is PROCESS_MEMORY_COUNTERS of psapi.h.
type memoryCounters struct {
	size, pageFaults                 uint32
	peakWorkingSetSize, workingSet   uintptr
	quotaPeakPaged, quotaPaged       uintptr
	quotaPeakNonPaged, quotaNonPaged uintptr
	pagefile, peakPagefile           uintptr
}

func (p *peak) follow(_ context.Context, pid int) {
	p.process, _ = windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid)) // unknown then
}

func (p *peak) wait() {}

// of returns the peak of the process; NaN if unknown.
func (p *peak) of(*os.ProcessState) float64 {
	if p.process == 0 {
		return math.NaN()
	}
	defer windows.CloseHandle(p.process)
	counters := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	ok, _, _ := getProcessMemoryInfo.Call(uintptr(p.process), uintptr(unsafe.Pointer(&counters)), uintptr(counters.size))
	if ok == 0 {
		return math.NaN()
	}
	return float64(counters.peakWorkingSetSize)
}
