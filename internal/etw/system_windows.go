//go:build amd64 || arm64

package etw

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gctrail/gctrail/internal/outfile"
)

var (
	advapi32       = windows.NewLazySystemDLL("advapi32.dll")
	startTrace     = advapi32.NewProc("StartTraceW")
	enableTraceEx2 = advapi32.NewProc("EnableTraceEx2")
	controlTrace   = advapi32.NewProc("ControlTraceW")
	setInformation = advapi32.NewProc("TraceSetInformation")
	queryAllTraces = advapi32.NewProc("QueryAllTracesW")
)

// Windows is the system itself.
type Windows struct{}

// StartTrace is StartTraceW.
func (Windows) StartTrace(session string, properties []byte) (handle uint64, err error) {
	name, err := windows.UTF16PtrFromString(session)
	if err != nil {
		return 0, err
	}
	err = call(startTrace, uintptr(unsafe.Pointer(&handle)), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&properties[0])))
	return handle, err
}

// Enable is EnableTraceEx2.
func (Windows) Enable(handle uint64, e *Enabling) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	pinned := func(b []byte) uint64 {
		if len(b) == 0 {
			return 0
		}
		pin.Pin(&b[0])
		return uint64(address(b))
	}
	var descriptors []byte
	for i := range e.Parameters.Filters {
		f := &e.Parameters.Filters[i]
		descriptors = append(descriptors, f.Descriptor(pinned(f.Data))...)
	}
	parameters := e.Parameters.Bytes(pinned(descriptors))
	return call(enableTraceEx2, uintptr(handle), uintptr(unsafe.Pointer(&e.Provider)), uintptr(e.Code), uintptr(e.Level),
		uintptr(e.Any), uintptr(e.All), uintptr(e.Timeout), uintptr(pinned(parameters)))
}

// Control is ControlTraceW.
func (Windows) Control(handle uint64, session string, properties []byte, code uint32) error {
	var name *uint16
	if session != "" {
		var err error
		if name, err = windows.UTF16PtrFromString(session); err != nil {
			return err
		}
	}
	return call(controlTrace, uintptr(handle), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&properties[0])), uintptr(code))
}

// SetInformation is TraceSetInformation.
func (Windows) SetInformation(handle uint64, class uint32, info []byte) error {
	return call(setInformation, uintptr(handle), uintptr(class), uintptr(unsafe.Pointer(&info[0])), uintptr(len(info)))
}

// QueryAll is QueryAllTracesW.
func (Windows) QueryAll(properties [][]byte) (int, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	all := make([]uintptr, len(properties))
	for i, p := range properties {
		pin.Pin(&p[0])
		all[i] = address(p)
	}
	var n uint32
	err := call(queryAllTraces, uintptr(unsafe.Pointer(&all[0])), uintptr(len(all)), uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// Runs reports whether a process runs.
func (Windows) Runs(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err != nil || event == uint32(windows.WAIT_TIMEOUT)
}

// Free returns how much room the disk of a folder has.
func (Windows) Free(folder string) (bytes int64, known bool) { return outfile.FreeSpace(folder) }

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// call calls a function of Windows. The directive keeps the targets of pointers that are converted
// in its arguments alive, and in place.
//
//go:uintptrescapes
func call(p *windows.LazyProc, args ...uintptr) error {
	if err := p.Find(); err != nil {
		return err
	}
	status, _, _ := p.Call(args...)
	if status != 0 {
		return Status(status)
	}
	return nil
}

// Native returns the system's ETW.
func Native() System { return Windows{} }
