package heap

import (
	"cmp"
	"errors"
	"slices"
	"sort"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
)

// Snapshots reads the heap snapshots of a trace. The zero Snapshots counts objects by
// type, in memory that does not depend on their number. It is for one goroutine.
type Snapshots struct {
	// MaxObjects is how many objects the graphs of all snapshots may have together. They
	// need up to 40 bytes for an object, and 4 more for a reference; for Dominators twice
	// as much. A snapshot with more objects than are left has none.
	MaxObjects int

	processes pass.Table[process]
	kept      int
}

// MaxObjects is a value of Snapshots.MaxObjects for machines of today: 5 GB of memory.
const MaxObjects = 1 << 26

// A process is the state of a process.
type process struct {
	pid     uint64
	types   types
	methods methods
	walk    *walk // after GCStart of generation 2
	// unused is the walk of an earlier collection without objects: nearly all are.
	unused *walk
	// young is a collection of younger generations that runs. While a snapshot is asked for,
	// it lists the heap too, also within a background collection, whose snapshot that is not.
	young     gc.Opt[uint32]
	snapshots []*Snapshot
	startless int64
}

// Kinds returns the kinds of events that Snapshots read.
func (*Snapshots) Kinds() []clr.Kind {
	return append([]clr.Kind{
		clr.KindGCStart, clr.KindGCEnd, clr.KindGCGenerationRange, clr.KindGCBulkRootStaticVar,
		clr.KindBulkType, clr.KindModuleLoad, clr.KindModuleDCStart, clr.KindModuleDCEnd,
		clr.KindMethodLoadVerbose, clr.KindMethodDCStartVerbose, clr.KindMethodDCEndVerbose,
	}, numbered[:]...)
}

// Event processes one event.
func (m *Snapshots) Event(e *pass.Event) {
	p, isNew := m.processes.At(e.Process.Index)
	if isNew {
		p.pid = e.Process.PID
	}
	switch e.Kind {
	case clr.KindGCStart:
		v, ok := pass.Decode[clr.GCStart](e)
		switch {
		case ok && v.Depth == 2:
			p.young = gc.Opt[uint32]{}
			m.start(p, e, v.Count)
		case ok:
			p.young = gc.Some(v.Count)
		}
	case clr.KindGCEnd:
		v, ok := pass.Decode[clr.GCEnd](e)
		if young, is := p.young.Get(); ok && is && young == v.Count {
			p.young = gc.Opt[uint32]{}
		}
		if ok && p.walk != nil && p.walk.of.Number == v.Count {
			p.walk.of.End = gc.Some(e.Time)
			m.end(p)
		}
	case clr.KindBulkType:
		v, _ := pass.Decode[clr.BulkType](e) // a part counts
		for i := range v.Values {
			p.types.named(&v.Values[i])
		}
	case clr.KindModuleLoad, clr.KindModuleDCStart, clr.KindModuleDCEnd: // laid out alike
		v, _ := pass.Decode[clr.ModuleLoad](e)
		if path := cmp.Or(v.ModuleILPath.String(), v.ModuleNativePath.String()); path != "" { // NativeAOT has no IL
			p.types.load(v.ModuleID, path)
		}
	case clr.KindMethodLoadVerbose, clr.KindMethodDCStartVerbose, clr.KindMethodDCEndVerbose: // likewise
		if v, ok := pass.Decode[clr.MethodLoadVerbose](e); ok && m.MaxObjects > 0 {
			p.methods.named(v)
		}
	default:
		if p.young.Known() {
			return
		}
		if p.walk == nil {
			if v, _ := e.Decoded(); e.Kind == clr.KindGCBulkNode {
				p.startless += int64(len(v.(*clr.GCBulkNode).Values))
			}
			return
		}
		p.walk.event(e)
		if p.walk.graph && p.walk.nodes.len() > m.MaxObjects-m.kept {
			p.walk.leaveOut()
		}
	}
}

// start begins the walk of a collection. .NET Framework raises GCStart twice for each.
func (m *Snapshots) start(p *process, e *pass.Event, number uint32) {
	if p.walk != nil {
		if p.walk.of.Number == number && len(p.walk.uses) == 0 {
			return
		}
		m.unended(p)
	}
	w := p.unused
	if w == nil {
		w = &walk{of: new(Snapshot)}
	}
	*w.of = Snapshot{PID: p.pid, Number: number, Start: gc.Some(e.Time)}
	*w = walk{of: w.of, types: &p.types, graph: m.MaxObjects > 0}
	p.walk, p.unused = w, nil
}

// end ends the walk. A collection without objects wrote no snapshot.
func (m *Snapshots) end(p *process) {
	if len(p.walk.uses) > 0 {
		s := p.walk.end()
		if s.Graph != nil {
			m.kept += s.Graph.Len()
		}
		p.snapshots = append(p.snapshots, s)
	} else {
		p.unused = p.walk
	}
	p.walk = nil
}

func (m *Snapshots) unended(p *process) {
	p.walk.of.Missing.Unended = true
	m.end(p)
}

// End ends the snapshots that the trace has no end of, and completes the names of types and
// of the methods whose variables are roots.
func (m *Snapshots) End() {
	for p := range m.processes.All() {
		if p.walk != nil {
			m.unended(p)
		}
		p.types.resolve()
		for _, s := range p.snapshots {
			if s.Graph != nil {
				p.methods.resolve(s.Graph)
			}
		}
		p.methods = methods{}
	}
}

// All returns the snapshots in the order of their starts. Names of types, and the paths of
// modules, are complete when the trace has ended.
func (m *Snapshots) All() []*Snapshot {
	var all []*Snapshot
	for p := range m.processes.All() {
		all = append(all, p.snapshots...)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start.Or(0) < all[j].Start.Or(0) })
	return all
}

// ErrOtherProcess reports a trace that is not of the process of a snapshot.
var ErrOtherProcess = errors.New("it is not a trace of the same process, or has no names of its types")

// Borrow names types that have no names as another trace of the same processes does, and
// returns how many. Both traces have ended.
func (m *Snapshots) Borrow(from *Snapshots) (named int, err error) {
	for p := range m.processes.All() {
		if len(p.snapshots) == 0 {
			continue
		}
		err = ErrOtherProcess
		for other := range from.processes.All() {
			if other.pid == p.pid {
				var n int
				n, err = p.types.borrow(&other.types)
				named += n
			}
		}
		if err != nil {
			return named, err
		}
	}
	return named, nil
}

// Nameless counts the types with objects that have no name.
func (s *Snapshot) Nameless() (n int) {
	for _, u := range s.Types {
		if u.Name == "" {
			n++
		}
	}
	return n
}

// Native reports whether the types are of a NativeAOT program, and so without names.
func (s *Snapshot) Native() bool {
	return slices.ContainsFunc(s.Types, func(u TypeUse) bool { return u.Native })
}

// Startless counts objects of collections whose GCStart is not in the trace. They are in
// no snapshot, because it is unknown what is missing before them.
func (m *Snapshots) Startless() int64 {
	var n int64
	for p := range m.processes.All() {
		n += p.startless
	}
	return n
}
