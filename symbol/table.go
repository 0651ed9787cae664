package symbol

import (
	"bytes"
	"cmp"
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// The bounds of a Table, over all processes. What exceeds them is counted.
const (
	maxMethods   = 1 << 20
	maxNameBytes = 48 << 20
	maxModules   = 1 << 16
	maxImages    = 1 << 12 // of one process
	maxProcesses = 1 << 14
)

// maxPrecompiled is how far from its entry point an address counts as part of a
// precompiled method, whose size is in no event.
const maxPrecompiled = 64 << 10

// A Table holds the methods and modules of processes. The zero Table is empty
// and ready for use. It is fed by one goroutine; between events, any number may
// resolve addresses.
type Table struct {
	sorting sync.Mutex // guards the order of methods and images while addresses are resolved

	desc    *trace.Descriptor // of the last event
	take    take              // its handler
	byPID   map[uint64]*process
	last    *process
	methods int
	bytes   int // of names
	modules int
	dropped int
	decoded struct {
		load   clr.MethodLoadVerbose
		module clr.ModuleLoad
		entry  clr.R2RGetEntryPoint
	}
	name []byte
}

// A process has the code of one process.
type process struct {
	pid     uint64
	index   uint32 // among the processes of the table
	methods spans[method, *method]
	mapped  spans[method, *method] // of perf maps, for addresses of no other method
	names   []byte
	images  spans[image, *image]
	modules map[uint64]string // file names by ModuleID
	sorted  bool

	seen *addresses // nil if no stacks are kept
}

// A method is code at an address during a part of the trace.
type method struct {
	span
	id     uint64
	module uint64
	name   uint32 // offset in names
	length uint32
	open   bool // where it ends is not known
}

// A take processes the events of one kind.
type take func(*Table, *trace.Event)

// takes has the handlers of the runtime's events.
var takes = [clr.NumKinds]take{
	clr.KindMethodLoadVerbose:    func(t *Table, ev *trace.Event) { t.method(ev, ev.Time(), never) },
	clr.KindMethodUnloadVerbose:  func(t *Table, ev *trace.Event) { t.method(ev, always, ev.Time()) },
	clr.KindMethodDCStartVerbose: func(t *Table, ev *trace.Event) { t.method(ev, always, never) },
	clr.KindMethodDCEndVerbose:   func(t *Table, ev *trace.Event) { t.method(ev, always, never) },
	clr.KindR2RGetEntryPoint:     (*Table).entryPoint,
	clr.KindModuleLoad:           (*Table).module,
	clr.KindModuleDCStart:        (*Table).module,
	clr.KindModuleDCEnd:          (*Table).module,
}

func takeOf(d *trace.Descriptor) take {
	switch d.Provider {
	case systemProvider:
		switch d.ID {
		case processMapping:
			return (*Table).mapping
		case processSymbol:
			return (*Table).symbol
		}
	case kernelImages:
		switch d.Opcode {
		case imageUnload, imageDCStart, imageDCEnd, imageLoad:
			return (*Table).kernelImage
		}
	}
	return takes[clr.KindOf(d.Provider, d.ID)]
}

// Wants reports whether a Table reads events of a kind.
func Wants(d *trace.Descriptor) bool { return takeOf(d) != nil }

// Feed processes one event. Events that the table does not want are skipped.
func (t *Table) Feed(ev *trace.Event) {
	if ev.Desc != t.desc {
		t.desc, t.take = ev.Desc, takeOf(ev.Desc)
	}
	switch {
	case t.take == nil:
	case t.lacksRoom(ev.PID):
		t.dropped++
	default:
		t.take(t, ev)
	}
}

// lacksRoom reports whether the table has no room for another process.
func (t *Table) lacksRoom(pid uint64) bool {
	return len(t.byPID) >= maxProcesses && t.byPID[pid] == nil
}

// Methods returns the number of methods in the table. Without any, no managed
// code has a name.
func (t *Table) Methods() int { return t.methods }

// Dropped returns the number of methods and modules that the table had no room
// for.
func (t *Table) Dropped() int { return t.dropped }

// process returns the process with a PID. If there is no room, it returns the unknown
// process, which gets the stacks of all others.
func (t *Table) process(pid uint64) *process {
	if t.last != nil && t.last.pid == pid {
		return t.last
	}
	p := t.byPID[pid]
	if pid != trace.UnknownID && t.lacksRoom(pid) {
		return t.process(trace.UnknownID)
	}
	if p == nil {
		if t.byPID == nil {
			t.byPID = make(map[uint64]*process)
		}
		p = &process{pid: pid, index: uint32(len(t.byPID)), modules: make(map[uint64]string)}
		t.byPID[pid] = p
	}
	t.last = p
	return p
}

// method processes a method that is loaded, unloaded or listed. The payloads of
// the four events are laid out alike.
func (t *Table) method(ev *trace.Event, from, to time.Duration) {
	v := &t.decoded.load
	start := &v.MethodStartAddress
	if v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil || v.MethodSize == 0 || *start+uint64(v.MethodSize) < *start {
		return
	}
	end := *start + uint64(v.MethodSize)
	p := t.process(ev.PID)
	if m := p.methods.last(*start); m != nil && m.id == v.MethodID {
		m.end, m.open, m.to = end, false, to
		p.sorted = false
		return
	}
	if (from != always || to != never) && p.seen != nil { // other code is there from now on
		p.seen.replaced(*start, end)
	}
	t.name = appendName(t.name[:0], v.MethodNamespace, v.MethodName, v.MethodSignature)
	t.add(p, &p.methods, method{span: span{*start, end, from, to}, id: v.MethodID, module: v.ModuleID}, t.name)
}

// entryPoint processes a precompiled method that is about to be called for the first time. A
// method extends to the next one, because only precompiled code with such an event runs.
func (t *Table) entryPoint(ev *trace.Event) {
	v := &t.decoded.entry
	if v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil || v.EntryPoint+maxPrecompiled < v.EntryPoint {
		return
	}
	p := t.process(ev.PID)
	if m := p.methods.last(v.EntryPoint); m != nil && m.id == v.MethodID {
		return
	}
	t.name = appendName(t.name[:0], v.MethodNamespace, v.MethodName, v.MethodSignature)
	t.add(p, &p.methods, method{span: span{v.EntryPoint, v.EntryPoint + maxPrecompiled, always, never}, id: v.MethodID, open: true}, t.name)
}

// add adds a method to a process, if there is room.
func (t *Table) add(p *process, methods *spans[method, *method], m method, name []byte) {
	if t.methods >= maxMethods || t.bytes+len(name) > maxNameBytes {
		t.dropped++
		return
	}
	m.name, m.length = uint32(len(p.names)), uint32(len(name))
	p.names = append(p.names, name...)
	methods.add(m)
	p.sorted = false
	t.methods++
	t.bytes += len(name)
}

// sort orders the images and methods of a process, so that addresses can be looked up.
func (t *Table) sort(p *process) {
	t.sorting.Lock()
	defer t.sorting.Unlock()
	if p.sorted {
		return
	}
	p.sorted = true
	p.images.sort()
	p.images.measure()
	p.methods.sort()
	next := ^uint64(0) // the start of the next method that starts elsewhere
	for i := len(p.methods.all) - 1; i >= 0; i-- {
		m := &p.methods.all[i]
		if m.open {
			m.end = min(m.start+maxPrecompiled, next)
		}
		if i > 0 && p.methods.all[i-1].start != m.start {
			next = m.start
		}
	}
	p.methods.measure()
	p.mapped.sort()
	p.mapped.measure()
}

// appendName appends a method's name as PerfView prints it: the signature
// gives the parameters, without what is returned.
func appendName(dst []byte, namespace, name, signature clr.UTF16) []byte {
	dst = namespace.AppendTo(dst)
	if len(namespace) > 0 {
		dst = append(dst, '.')
	}
	dst = name.AppendTo(dst)
	start := len(dst)
	dst = signature.AppendTo(dst)
	parens := bytes.IndexByte(dst[start:], '(')
	if parens < 0 {
		return dst[:start]
	}
	return append(dst[:start], dst[start+parens:]...)
}

// module processes a module. The three events are laid out alike.
func (t *Table) module(ev *trace.Event) {
	v := &t.decoded.module
	if v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil && len(v.ModuleILPath) == 0 {
		return
	}
	p := t.process(ev.PID)
	if _, known := p.modules[v.ModuleID]; known {
		return
	}
	path := cmp.Or(v.ModuleILPath.String(), v.ModuleNativePath.String())
	name := baseName(path)
	if t.modules >= maxModules || t.bytes+len(name) > maxNameBytes {
		t.dropped++
		return
	}
	t.modules++
	t.bytes += len(name)
	p.modules[v.ModuleID] = name
}
