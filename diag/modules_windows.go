package diag

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gctrail/gctrail/internal/program"
)

// An examined process is one without a pipe, and what its modules are known to be.
type examined struct {
	started time.Time
	again   time.Time // when it is to be examined again: it may still load a runtime
	runtime runtimeModule
}

// A runtimeModule is the runtime that a process loads; the zero value is none.
type runtimeModule struct {
	framework bool   // it is .NET Framework
	version   string // of .NET Framework; empty if unknown
}

// minExamination is the shortest time after which a process is examined again.
const minExamination = 30 * time.Second

// runningProcesses returns the files of all processes by their PID; none if the system
// does not list them.
func runningProcesses() map[uint32]string {
	all := make(map[uint32]string)
	h, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return all
	}
	defer windows.CloseHandle(h)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(h, &e); err == nil; err = windows.Process32Next(h, &e) {
		if e.ProcessID != 0 {
			all[e.ProcessID] = windows.UTF16ToString(e.ExeFile[:])
		}
	}
	return all
}

// withoutPipe returns the processes that load .NET Framework, which has no diagnostic
// pipe.
func (f *finder) withoutPipe(running map[uint32]string) []*Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []*Process
	for pid, file := range running {
		at := started(pid)
		r := f.examine(pid, at)
		if r.framework {
			found = append(found, &Process{
				PID: int(pid), InnerPID: int(pid), Name: program.Base(file), Started: at,
				Framework: r.version, Err: &frameworkError{int(pid)},
			})
		}
	}
	for pid := range f.examined {
		if _, runs := running[pid]; !runs && len(running) > 1 {
			delete(f.examined, pid)
		}
	}
	return found
}

// examine returns the runtime that a process loads. A result serves until the process is
// twice as old, because a process may load a runtime late.
func (f *finder) examine(pid uint32, at time.Time) runtimeModule {
	now := time.Now()
	known, ok := f.examined[pid]
	if ok && known.started.Equal(at) && (known.runtime.framework || now.Before(known.again)) {
		return known.runtime
	}
	e := examined{started: at, again: now.Add(max(minExamination, now.Sub(at))), runtime: runtimeOf(pid)}
	f.examined[pid] = e
	return e.runtime
}

// runtimeOf looks for .NET Framework among the modules of a process: clr.dll since
// version 4, mscorwks.dll before.
func runtimeOf(pid uint32) runtimeModule {
	h, err := moduleSnapshot(pid)
	if err != nil {
		return runtimeModule{}
	}
	defer windows.CloseHandle(h)
	e := windows.ModuleEntry32{Size: uint32(unsafe.Sizeof(windows.ModuleEntry32{}))}
	for err = windows.Module32First(h, &e); err == nil; err = windows.Module32Next(h, &e) {
		switch strings.ToLower(windows.UTF16ToString(e.Module[:])) {
		case "clr.dll", "mscorwks.dll":
			return runtimeModule{framework: true, version: fileVersion(windows.UTF16ToString(e.ExePath[:]))}
		}
	}
	return runtimeModule{}
}

// moduleSnapshot lists the modules of a process, also of a 32-bit one. It tries again
// while the process changes them, as Microsoft's documentation asks for.
func moduleSnapshot(pid uint32) (windows.Handle, error) {
	const tries = 3
	var h windows.Handle
	err := error(windows.ERROR_BAD_LENGTH)
	for n := 0; n < tries && errors.Is(err, windows.ERROR_BAD_LENGTH); n++ {
		h, err = windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPMODULE|windows.TH32CS_SNAPMODULE32, pid)
	}
	return h, err
}

// fileVersion returns the version in the resources of a file, such as
// 4.8.4515.0; empty if it has none.
func fileVersion(path string) string {
	size, err := windows.GetFileVersionInfoSize(path, new(windows.Handle))
	if err != nil || size == 0 {
		return ""
	}
	block := make([]byte, size)
	if windows.GetFileVersionInfo(path, 0, size, unsafe.Pointer(&block[0])) != nil {
		return ""
	}
	var fixed *windows.VS_FIXEDFILEINFO
	var n uint32
	if windows.VerQueryValue(unsafe.Pointer(&block[0]), `\`, unsafe.Pointer(&fixed), &n) != nil || uintptr(n) < unsafe.Sizeof(*fixed) {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d",
		fixed.FileVersionMS>>16, fixed.FileVersionMS&0xffff, fixed.FileVersionLS>>16, fixed.FileVersionLS&0xffff)
}
