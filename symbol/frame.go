package symbol

import (
	"fmt"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

// A Frame describes a code address.
type Frame struct {
	Address uint64
	Method  string // with its parameters; empty if unknown
	Module  string // the file the code is from, without its folder; empty if unknown
	Offset  uint64 // of the address in Module, where Method is unknown
	Why     Reason // Method is unknown
}

// Reason is why an address has no name.
type Reason uint8

const (
	Named     Reason = iota // it has one
	NoMethods               // the trace names no methods of the process: it was recorded without rundown
	Native                  // code of a file without managed methods, such as the runtime itself
	Unlisted                // no event names the code at this address
	NumReasons
)

var reasonNames = [NumReasons]string{"named", "no methods", "native", "unlisted"}

func (r Reason) String() string { return units.Name("Reason", reasonNames[:], r) }

// Resolved reports whether the frame's method is known.
func (f Frame) Resolved() bool { return f.Method != "" }

// String returns the method's name, or else the module and offset, or else "?".
func (f Frame) String() string {
	switch {
	case f.Method != "":
		return f.Method
	case f.Module != "":
		return fmt.Sprintf("%s!0x%x", f.Module, f.Offset)
	default:
		return "?"
	}
}

// Resolve returns the frame of an address in a process at a time. Call it after all
// events have been fed.
func (t *Table) Resolve(pid, address uint64, at time.Duration) Frame {
	f := Frame{Address: address, Why: Unlisted}
	p := t.byPID[pid]
	if p == nil {
		f.Why = NoMethods
		return f
	}
	t.sort(p)
	m := p.methods.find(address, at)
	if m == nil {
		m = p.mapped.find(address, at)
	}
	if m != nil {
		f.Method = string(p.names[m.name : m.name+m.length])
		f.Module = p.modules[m.module]
		f.Why = Named
		return f
	}
	i := p.images.find(address, at)
	if i == nil {
		if kernel := t.byPID[kernelPID]; kernel != nil {
			t.sort(kernel)
			i = kernel.images.find(address, at)
		}
	}
	switch {
	case i != nil:
		f.Module, f.Offset = i.name, address-i.start+i.offset
		if !p.manages(i.name) {
			f.Why = Native
		}
	case len(p.methods.all)+len(p.mapped.all) == 0:
		f.Why = NoMethods
	}
	return f
}

// A CodeID identifies a method of a Table as it was loaded once: code that is compiled
// again is another one.
type CodeID struct{ process, method uint32 }

// Code returns the method at an address in a process at a time, as Resolve finds it;
// false if none is known there. Call it after all events have been fed.
func (t *Table) Code(pid, address uint64, at time.Duration) (CodeID, bool) {
	p := t.byPID[pid]
	if p == nil {
		return CodeID{}, false
	}
	t.sort(p)
	i := p.methods.index(address, at)
	return CodeID{p.index, uint32(i)}, i >= 0
}

// kernelPID is the process of the kernel's images in ETW traces.
const kernelPID = 0

// manages reports whether a file is one of the process's managed modules.
func (p *process) manages(file string) bool {
	for _, name := range p.modules {
		if strings.EqualFold(name, file) {
			return true
		}
	}
	return false
}

// baseName returns a path's last element, of Windows' paths too.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
