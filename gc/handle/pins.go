package handle

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/units"
)

// The bounds of Pins: the objects, the types, and the open handles that pin, which it
// follows.
const (
	maxPinned  = 1 << 18
	maxTypes   = 1 << 14
	maxPinning = 1 << 18
)

// Pins sums up the objects that are pinned during collections. The zero value
// is ready for use, by one goroutine.
type Pins struct {
	processes pass.Table[pins]
	rejected  int
	set       clr.SetGCHandle
	destroy   clr.DestroyGCHandle
}

// A pins holds the state of one process.
type pins struct {
	pid         uint64
	collections int64             // begun
	objects     map[uint64]pinned // by address
	before      map[uint64]pinned // of the collection before
	largest     int64             // the largest size of objects
	sorted      []uint64          // the addresses of objects, except for new ones
	handles     table[pinNumber]  // open ones that pin
	types       map[string]*pinSum
	list        []*pinSum // of types
	whole       PinTotal
	plugs       plugs
}

// plugs are the stretches of memory that pinned objects are in.
type plugs struct{ count, gap int64 }

func (s *plugs) add(gap uint64) {
	s.count++
	s.gap = units.AddCapped(s.gap, int64(gap))
}

// known returns the number of plugs and the free bytes before them, unknown if there
// are none.
func (s plugs) known() (count, gap gc.Opt[int64]) {
	if s.count == 0 {
		return count, gap
	}
	return gc.Some(s.count), gc.Some(s.gap)
}

// A pinned object was found in a number of collections in a row. Bytes are what the events
// of the last of them add to its sum, and size is the largest of theirs.
type pinned struct {
	run         int64
	size, bytes int64
	sum         *pinSum
}

type pinSum struct {
	Pin
	byHandle, open int64
	plugs          plugs
	number         pinNumber
	last           int64 // collection
}

// A pinNumber is unseen, or unseen + 1 + the index of a type in the process's list.
type pinNumber uint32

// unseen is that of a handle whose object no collection has found yet.
const unseen pinNumber = 1

// A PinTotal sums up the pins of one process.
type PinTotal struct {
	PID         uint64 // trace.UnknownID if unknown
	Collections int64  // in which something was pinned
	Count       int64  // of objects, counted once in each collection
	// Plugs counts the pinned plugs that the private provider reports, and Gap
	// the free bytes before them; both are unknown without its events.
	Plugs, Gap gc.Opt[int64]
	// Created counts the GC handles of the kinds Pinned and AsyncPinned whose creation is
	// in the trace, Open the ones that were not destroyed, and Unseen the ones that were
	// destroyed before a collection found their object.
	Created, Open, Unseen int64
}

// A Pin sums up the pinned objects of a type.
type Pin struct {
	PID         uint64 // trace.UnknownID if unknown
	Type        string // empty if unknown
	Count       int64  // of pins: objects, counted once in each collection
	Bytes       int64  // of Count
	Objects     int64  // distinct objects, by address in consecutive collections
	Collections int64
	Longest     int64 // the most collections in a row that an object was pinned in
	// ByHandle are the pins of Count by a GC handle that was created in the trace. The
	// others are by variables on stacks, or by older handles. Open are the handles that
	// were not destroyed. Both are unknown if the trace creates no such handle.
	ByHandle, Open gc.Opt[int64]
	// Plugs are the pinned stretches of memory that begin with an object of the type,
	// and Gap the free bytes before them; unknown without such events of the private
	// provider.
	Plugs, Gap gc.Opt[int64]
}

// Kinds returns the kinds of events that Pins read one by one.
func (*Pins) Kinds() []clr.Kind {
	return []clr.Kind{clr.KindGCStart, clr.KindPinObjectAtGCTime, clr.KindPinPlugAtGCTime, clr.KindGCHeapStats}
}

// Runs returns the kinds of events that Pins read in runs.
func (*Pins) Runs() []clr.Kind { return []clr.Kind{clr.KindSetGCHandle, clr.KindDestroyGCHandle} }

// Events processes events in a row. Of their payloads there is one version.
func (p *Pins) Events(r *pass.Events) {
	of := p.process(r.Process)
	for i := range r.Len() {
		switch r.Kind(i) {
		case clr.KindSetGCHandle:
			if v := &p.set; v.Decode(0, r.Payload(i), r.PointerSize) == nil {
				of.created(v.HandleID, v.Kind)
			}
		case clr.KindDestroyGCHandle:
			if v := &p.destroy; v.Decode(0, r.Payload(i), r.PointerSize) == nil {
				of.destroyed(v.HandleID)
			}
		}
	}
}

// Event processes one event.
func (p *Pins) Event(e *pass.Event) {
	of := p.process(e.Process)
	switch e.Kind {
	case clr.KindGCStart:
		of.begin()
	case clr.KindPinObjectAtGCTime:
		if v, ok := pass.Decode[clr.PinObjectAtGCTime](e); ok && p.takes(v.ObjectSize) {
			of.add(v)
		}
	case clr.KindPinPlugAtGCTime:
		if v, ok := pass.Decode[clr.PinPlugAtGCTime](e); ok && p.takes(v.GapBeforeSize) {
			of.plug(v)
		}
	case clr.KindGCHeapStats:
		if v, ok := pass.Decode[clr.GCHeapStats](e); ok {
			p.rejected += of.fit(v.Heap())
		}
	}
}

func (p *Pins) process(of *pass.Process) *pins {
	s, isNew := p.processes.At(of.Index)
	if isNew {
		*s = pins{
			pid: of.PID, types: make(map[string]*pinSum), whole: PinTotal{PID: of.PID},
			objects: make(map[uint64]pinned), before: make(map[uint64]pinned),
		}
	}
	return s
}

// takes reports whether a process can address so many bytes, and counts the sizes beyond that.
func (p *Pins) takes(size uint64) bool {
	if size >= clr.MaxSize {
		p.rejected++
		return false
	}
	return true
}

// Rejected returns the number of sizes that are left out because they are impossible: no
// process can address them, or the heap that the collection left is smaller.
func (p *Pins) Rejected() int { return p.rejected }

// begin notes the start of a collection. One during which nothing is pinned
// ends all runs.
func (p *pins) begin() {
	p.collections++
	if len(p.objects) > 0 {
		p.whole.Collections++
	}
	p.before, p.objects = p.objects, p.before
	clear(p.objects)
	p.largest = 0
	p.sorted = p.sorted[:0]
}

// fit leaves out the sizes of objects that exceed the heap that the collection left, and
// returns their number. Pinned objects survive it.
func (p *pins) fit(heap uint64) (exceed int) {
	if heap >= clr.MaxSize || !clr.Exceeds(p.largest, int64(heap)) {
		return 0
	}
	for addr, o := range p.objects {
		if clr.Exceeds(o.size, int64(heap)) {
			o.sum.Bytes -= o.bytes
			o.size, o.bytes = 0, 0
			p.objects[addr] = o
			exceed++
		}
	}
	p.largest = int64(heap)
	return exceed
}

func (p *pins) add(v *clr.PinObjectAtGCTime) {
	s, size := p.sum(v.TypeName), int64(v.ObjectSize)
	s.Count++
	s.Bytes = units.AddCapped(s.Bytes, size)
	p.whole.Count++
	if s.last != p.collections {
		s.last = p.collections
		s.Collections++
	}
	if number := p.handles.get(v.HandleID); number != 0 {
		s.byHandle++
		if number == unseen {
			p.handles.set(v.HandleID, s.number)
			s.open++
		}
	}
	o, again := p.objects[v.ObjectID]
	if !again && len(p.objects) >= maxPinned {
		return
	}
	if !again {
		o = pinned{run: p.before[v.ObjectID].run + 1, sum: s}
		s.Longest = max(s.Longest, o.run)
		if o.run == 1 {
			s.Objects++
		}
	}
	if o.sum == s {
		o.size, o.bytes = max(o.size, size), o.bytes+size
		p.largest = max(p.largest, size)
	}
	p.objects[v.ObjectID] = o
}

// sum returns the sum of a type.
func (p *pins) sum(name clr.UTF16) *pinSum {
	if s := p.types[string(name)]; s != nil {
		return s
	}
	key := string(name)
	if len(p.types) >= maxTypes {
		key = ""
	}
	s := p.types[key]
	if s == nil {
		s = &pinSum{Pin: Pin{PID: p.pid, Type: clr.UTF16(key).String()}, number: unseen + 1 + pinNumber(len(p.list)), last: -1}
		p.list = append(p.list, s)
		p.types[key] = s
	}
	return s
}

// plug counts a pinned stretch of memory for the type of the first pinned object in
// it. The collector reports it after all objects, when it plans.
func (p *pins) plug(v *clr.PinPlugAtGCTime) {
	p.plugs.add(v.GapBeforeSize)
	if len(p.sorted) != len(p.objects) {
		p.sorted = slices.AppendSeq(p.sorted[:0], maps.Keys(p.objects))
		slices.Sort(p.sorted)
	}
	i, _ := slices.BinarySearch(p.sorted, v.PlugStart)
	if i == len(p.sorted) || p.sorted[i] >= v.PlugEnd {
		return
	}
	s := p.objects[p.sorted[i]].sum
	s.plugs.add(v.GapBeforeSize)
}

// pinning reports whether handles of a kind pin.
func pinning(kind clr.HandleKind) bool {
	return kind == clr.HandleKindPinned || kind == clr.HandleKindAsyncPinned
}

// created notes a new handle, if it pins.
func (p *pins) created(id uint64, kind clr.HandleKind) {
	if !pinning(kind) {
		return
	}
	p.whole.Created++
	if p.handles.count < maxPinning || p.handles.get(id) != 0 {
		p.ended(p.handles.set(id, unseen)) // by an event that was lost
	}
}

func (p *pins) destroyed(id uint64) { p.ended(p.handles.remove(id)) }

// ended notes the end of a handle, 0 if it was none that pins.
func (p *pins) ended(number pinNumber) {
	switch number {
	case 0:
	case unseen:
		p.whole.Unseen++
	default:
		p.list[number-unseen-1].open--
	}
}

// Processes returns the totals of each process in which something was pinned.
func (p *Pins) Processes() []PinTotal {
	var all []PinTotal
	for of := range p.processes.All() {
		t := of.whole
		if len(of.objects) > 0 {
			t.Collections++
		}
		t.Open = int64(of.handles.count)
		t.Plugs, t.Gap = of.plugs.known()
		if t.Count+of.plugs.count+t.Created > 0 {
			all = append(all, t)
		}
	}
	return all
}

// Rows returns a process's pins by type, in descending order of bytes.
func (p *Pins) Rows(pid uint64) []Pin {
	of := p.processes.Find(func(of *pins) bool { return of.pid == pid })
	if of == nil {
		return nil
	}
	rows := make([]Pin, 0, len(of.types))
	for _, s := range of.types {
		row := s.Pin
		if of.whole.Created > 0 {
			row.ByHandle, row.Open = gc.Some(s.byHandle), gc.Some(s.open)
		}
		row.Plugs, row.Gap = s.plugs.known()
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Pin) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type))
	})
	return rows
}
