//go:build amd64 || arm64

package emit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gctrail/gctrail/clr"
)

func (p *Provider) startSystemETW() (*Session, error) {
	for _, proc := range []*windows.LazyProc{eventRegister, eventUnregister, eventWrite} {
		if err := proc.Find(); err != nil {
			return nil, fmt.Errorf("emit: ETW: %w", err)
		}
	}
	return p.startETW(advapi{})
}

// The functions of evntprov.h. They need a 64-bit system, because a handle has 64 bits
// and must fit into one argument.
var (
	advapi32        = windows.NewLazySystemDLL("advapi32.dll")
	eventRegister   = advapi32.NewProc("EventRegister")
	eventUnregister = advapi32.NewProc("EventUnregister")
	eventWrite      = advapi32.NewProc("EventWrite")
)

// advapi is the system's ETW. It has the contexts of callbacks by handle.
type advapi map[uint64]uintptr

func (a advapi) register(guid clr.GUID, control func(etwControl)) (handle uint64, err error) {
	context := lastContext.Add(1)
	controls.Store(context, control)
	status, _, _ := eventRegister.Call(
		uintptr(unsafe.Pointer(&guid)), enableCallback(), context, uintptr(unsafe.Pointer(&handle)))
	if err := etwError("EventRegister", status); err != nil {
		controls.Delete(context)
		return 0, err
	}
	a[handle] = context
	return handle, nil
}

func (a advapi) unregister(handle uint64) error {
	status, _, _ := eventUnregister.Call(uintptr(handle))
	controls.Delete(a[handle])
	return etwError("EventUnregister", status)
}

func (advapi) write(handle uint64, event *etwEvent, data *etwData, count uint32) error {
	status, _, _ := eventWrite.Call(
		uintptr(handle), uintptr(unsafe.Pointer(event)), uintptr(count), uintptr(unsafe.Pointer(data)))
	return etwError("EventWrite", status)
}

func etwError(function string, status uintptr) error {
	if status == 0 {
		return nil
	}
	return fmt.Errorf("emit: %s: %w", function, windows.Errno(status))
}

// enableCallback is the PENABLECALLBACK of all providers. There is one for the
// program, because callbacks are never freed and their number is limited; its context
// identifies the provider. The system calls it on its own threads, and leaves the bits
// above a narrow argument undefined.
var enableCallback = sync.OnceValue(func() uintptr {
	return windows.NewCallback(func(_, code, level, matchAny, matchAll, _, context uintptr) uintptr {
		if control, ok := controls.Load(context); ok { // otherwise it was removed
			control.(func(etwControl))(etwControl{
				code: etwCode(code), level: uint8(level), matchAny: uint64(matchAny), matchAll: uint64(matchAll),
			})
		}
		return 0
	})
})

// controls maps the contexts of callbacks to their functions. A context is a number
// instead of a pointer, because the system holds it where the garbage collector does not
// see it.
var (
	controls    sync.Map // of func(etwControl)
	lastContext atomic.Uintptr
)
