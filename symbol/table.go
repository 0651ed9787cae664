package symbol

import (
	"bytes"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// The bounds of a Table, over all processes. What exceeds them is counted.
const (
	maxMethods   = 1 << 20
	maxNameBytes = 48 << 20
	maxModules   = 1 << 16
)

// A Table holds the methods and modules of processes. The zero Table is empty
// and ready for use, by one goroutine.
type Table struct {
	kinds   map[*trace.Descriptor]clr.Kind
	desc    *trace.Descriptor // of the last event
	kind    clr.Kind          // and its kind
	byPID   map[uint64]*process
	last    *process
	methods int
	bytes   int // of names
	modules int
	dropped int
	decoded struct {
		load   clr.MethodLoadVerbose
		module clr.ModuleLoad
	}
	name []byte
}

// A process has the code of one process.
type process struct {
	pid     uint64
	index   uint32 // among the processes of the table
	methods []method
	latest  map[uint64]int32 // the method that was last loaded at an address
	names   []byte
	images  []image
	modules map[uint64]string // file names by ModuleID
	sorted  bool
	reach   []uint64 // the highest end of methods[:i+1]

	seen *addresses // nil where no stacks are kept
}

// A method is code at an address during a part of the trace.
type method struct {
	start    uint64
	from, to time.Duration // loaded, unloaded; bounds of time where unknown
	id       uint64
	module   uint64
	size     uint32
	name     uint32 // offset in names
	length   uint32
}

// The times of what was loaded before the trace, and of what never was unloaded.
const (
	always time.Duration = -1 << 63
	never  time.Duration = 1<<63 - 1
)

func (m *method) end() uint64 { return m.start + uint64(m.size) }

// Wants reports whether a Table reads events of a kind.
func Wants(d *trace.Descriptor) bool { return wanted(clr.KindOf(d.Provider, d.ID)) }

func wanted(k clr.Kind) bool {
	switch k {
	case clr.KindMethodLoadVerbose, clr.KindMethodUnloadVerbose, clr.KindMethodDCStartVerbose, clr.KindMethodDCEndVerbose,
		clr.KindModuleLoad, clr.KindModuleDCStart, clr.KindModuleDCEnd:
		return true
	}
	return false
}

// Feed takes in one event. Events that the table does not want are passed over.
func (t *Table) Feed(ev *trace.Event) {
	if ev.Desc != t.desc {
		t.desc, t.kind = ev.Desc, t.kindOf(ev.Desc)
	}
	switch t.kind {
	case clr.KindMethodLoadVerbose, clr.KindMethodUnloadVerbose, clr.KindMethodDCStartVerbose, clr.KindMethodDCEndVerbose:
		t.method(ev)
	case clr.KindModuleLoad, clr.KindModuleDCStart, clr.KindModuleDCEnd:
		t.module(ev)
	}
}

func (t *Table) kindOf(d *trace.Descriptor) clr.Kind {
	k, known := t.kinds[d]
	if !known {
		k = clr.KindOf(d.Provider, d.ID)
		if t.kinds == nil {
			t.kinds = make(map[*trace.Descriptor]clr.Kind)
		}
		t.kinds[d] = k
	}
	return k
}

// Methods is the number of methods in the table. Without any, no managed code
// has a name.
func (t *Table) Methods() int { return t.methods }

// Dropped is the number of methods and modules that the table had no room for.
func (t *Table) Dropped() int { return t.dropped }

func (t *Table) process(pid uint64) *process {
	if t.last != nil && t.last.pid == pid {
		return t.last
	}
	p := t.byPID[pid]
	if p == nil {
		if t.byPID == nil {
			t.byPID = make(map[uint64]*process)
		}
		p = &process{pid: pid, index: uint32(len(t.byPID)), latest: make(map[uint64]int32), modules: make(map[uint64]string)}
		t.byPID[pid] = p
	}
	t.last = p
	return p
}

// method takes in a method that is loaded, unloaded or listed. The payloads of
// the four events are laid out alike.
func (t *Table) method(ev *trace.Event) {
	v := &t.decoded.load
	if v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil || v.MethodSize == 0 ||
		v.MethodStartAddress+uint64(v.MethodSize) < v.MethodStartAddress {
		return
	}
	p, at := t.process(ev.PID), ev.Time()
	from, to := always, never
	switch t.kind {
	case clr.KindMethodLoadVerbose:
		from = at
	case clr.KindMethodUnloadVerbose:
		to = at
	}
	if i, ok := p.latest[v.MethodStartAddress]; ok && p.methods[i].id == v.MethodID && p.methods[i].to == never {
		p.methods[i].to = to
		return
	}
	if from != always && p.seen != nil {
		p.seen.replaced(v.MethodStartAddress, v.MethodStartAddress+uint64(v.MethodSize))
	}
	t.name = appendName(t.name[:0], v.MethodNamespace, v.MethodName, v.MethodSignature)
	t.add(p, method{
		start: v.MethodStartAddress, size: v.MethodSize, from: from, to: to,
		id: v.MethodID, module: v.ModuleID,
	}, t.name)
}

// add adds a method, if there is room.
func (t *Table) add(p *process, m method, name []byte) {
	if t.methods >= maxMethods || t.bytes+len(name) > maxNameBytes {
		t.dropped++
		return
	}
	m.name, m.length = uint32(len(p.names)), uint32(len(name))
	p.names = append(p.names, name...)
	p.latest[m.start] = int32(len(p.methods))
	p.methods = append(p.methods, m)
	p.sorted = false
	t.methods++
	t.bytes += len(name)
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

// module takes in a module. The three events are laid out alike.
func (t *Table) module(ev *trace.Event) {
	v := &t.decoded.module
	if v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil && len(v.ModuleILPath) == 0 {
		return
	}
	p := t.process(ev.PID)
	if _, known := p.modules[v.ModuleID]; known {
		return
	}
	if t.modules >= maxModules {
		t.dropped++
		return
	}
	t.modules++
	path := v.ModuleILPath.String()
	if path == "" {
		path = v.ModuleNativePath.String()
	}
	p.modules[v.ModuleID] = baseName(path)
}
