package alloc

import (
	"cmp"
	"math"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/symbol"
)

// The bounds of a Model. Samples beyond them are summed up without their stack or their
// type.
const (
	maxRows  = 1 << 18
	maxTypes = 1 << 16
)

// interval is the number of bytes after which a tick comes, and the inverse of
// the probability with which AllocationSampled samples a byte.
const interval = clr.TickInterval

// Source is the kind of event that figures come from.
type Source uint8

const (
	SourceUnknown Source = iota
	Tick                 // GCAllocationTick
	Sampled              // AllocationSampled
	Object               // GCSampledObjectAllocationHigh and Low
	numSources
)

var sourceNames = [...]string{"", "tick", "sampled", "object"}

func (s Source) String() string { return units.Name("Source", sourceNames[:], s) }

var sourceEvents = [...]string{"", "GCAllocationTick", "AllocationSampled", "GCSampledObjectAllocation"}

// Event returns the name of the source's event, "" for SourceUnknown.
func (s Source) Event() string { return units.Name("Source", sourceEvents[:], s) }

// overcounted is the ratio of ticks to what was allocated above which ticks are wrong. Unused ends
// of allocation contexts account for a few percent of them.
const overcounted = 1.1

// Overcounts reports whether events of the source count more than was allocated, both in bytes.
// Ticks of .NET 5 and earlier may: when the runtime extends an allocation context, they count the
// rest of it again (gc.cpp, alloc_context_bytes; dotnet/runtime#45375).
func (s Source) Overcounts(counted, allocated int64) bool {
	return s == Tick && allocated > 0 && float64(counted) > overcounted*float64(allocated)
}

// Heap is the heap that an object is allocated on.
type Heap uint8

const (
	HeapUnknown Heap = iota
	Small            // generation 0
	Large            // the large object heap
	Pinned           // the pinned object heap
	numHeaps
)

var heapNames = [...]string{"", "small", "large", "pinned"}

func (h Heap) String() string { return units.Name("Heap", heapNames[:], h) }

func heapOf(k clr.AllocationKind) Heap {
	switch k {
	case clr.AllocationKindSmall:
		return Small
	case clr.AllocationKindLarge:
		return Large
	case clr.AllocationKindPinned:
		return Pinned
	}
	return HeapUnknown
}

// A Model sums up allocations. The zero Model is ready for use, by one
// goroutine.
type Model struct {
	// Stacks, if not nil, distinguishes allocations by stack.
	Stacks *symbol.Stacks
	// Types, if not nil, names the types that events identify only by number. It must be
	// fed with the trace's events.
	Types *symbol.Types
	// LargeLimits are up to eight sizes in bytes, in ascending order, below which
	// LargeBelow counts objects. They must be set before the first event.
	LargeLimits []uint64
	// KeepTimes retains the times that Timeline yields. It must be set before
	// the first event.
	KeepTimes bool
	// KeepStarts retains how much was allocated before each collection, for
	// TakeBefore. It must be set before the first event.
	KeepStarts bool

	processes pass.Table[process]
	rows      map[key]*kept
	types     int // of all processes
	timeline  timeline
	rejected  int
	starts    map[start]BySource
}

// A process has the types of one process.
type process struct {
	pid    uint64
	index  uint32
	names  map[string]uint32
	ids    map[uint64]uint32
	types  []typeName
	totals [numSources][numHeaps]sum
	large  [numSources]sizes
}

// sizes are bytes of large objects whose size is known, and the part of them in
// objects below each limit.
type sizes struct {
	all   float64
	below [maxLimits]float64
}

const maxLimits = 8

// A typeName is the name of a type in the events.
type typeName struct {
	name string
	id   uint64 // where name is empty
}

// The first types of a process.
const (
	otherTypes  = iota // the ones that there was no room for
	unknownType        // of events without one
	firstType
)

// A key identifies a sum.
type key struct {
	process, typ uint32
	stack        symbol.StackID
	source       Source
	heap         Heap
}

// A kept is the sum of a key, with its index in the timeline.
type kept struct {
	sum
	index uint32
}

// Kinds returns the kinds of events that the model reads.
func (m *Model) Kinds() []clr.Kind {
	kinds := []clr.Kind{clr.KindGCAllocationTick, clr.KindAllocationSampled, clr.KindGCSampledObjectAllocationHigh, clr.KindGCSampledObjectAllocationLow}
	if m.KeepStarts {
		kinds = append(kinds, clr.KindGCStart)
	}
	return kinds
}

// Event processes one event. Payloads that are too short are skipped.
func (m *Model) Event(e *pass.Event) {
	p := m.process(e.Process)
	switch e.Kind {
	case clr.KindGCAllocationTick:
		m.tick(p, e)
	case clr.KindAllocationSampled:
		m.sampled(p, e)
	case clr.KindGCSampledObjectAllocationHigh, clr.KindGCSampledObjectAllocationLow:
		m.object(p, e)
	case clr.KindGCStart:
		m.started(p, e)
	}
}

// tick counts the amount for the type of the object that crossed the line. Of
// an object as large as the interval, its size is known and not a sample.
func (m *Model) tick(p *process, e *pass.Event) {
	v, ok := pass.Decode[clr.GCAllocationTick](e)
	if !ok {
		return
	}
	if !v.Possible(e.Version) {
		m.rejected++
		return
	}
	amount := v.AllocationAmount64
	if e.Version < 2 {
		amount = uint64(v.AllocationAmount)
	}
	s := sum{samples: 1, bytes: float64(amount)}
	if v.ObjectSize > 0 {
		s.objects = s.bytes / float64(v.ObjectSize)
	}
	if v.ObjectSize >= interval {
		s.certain = min(s.bytes, float64(v.ObjectSize))
	}
	s.squares = (s.bytes - s.certain) * (s.bytes - s.certain)
	m.add(p, e, Tick, heapOf(v.AllocationKind), v.TypeName, v.TypeID, s)
	m.addLarge(p, Tick, heapOf(v.AllocationKind), v.ObjectSize, s.bytes)
}

// sampled counts an object's bytes divided by the probability that one of them
// is sampled.
func (m *Model) sampled(p *process, e *pass.Event) {
	v, ok := pass.Decode[clr.AllocationSampled](e)
	if !ok {
		return
	}
	if v.ObjectSize >= clr.MaxSize {
		m.rejected++
		return
	}
	chance := -math.Expm1(float64(v.ObjectSize) * math.Log1p(-1.0/interval))
	if chance <= 0 {
		return
	}
	bytes := float64(v.ObjectSize) / chance
	m.add(p, e, Sampled, heapOf(v.AllocationKind), v.TypeName, v.TypeID, sum{samples: 1, bytes: bytes, squares: bytes * bytes * (1 - chance), objects: 1 / chance})
	m.addLarge(p, Sampled, heapOf(v.AllocationKind), v.ObjectSize, bytes)
}

// object counts the bytes of all objects of a type since its last event.
func (m *Model) object(p *process, e *pass.Event) {
	v, ok := pass.Decode[clr.GCSampledObjectAllocationHigh](e) // Low has the same fields
	if !ok {
		return
	}
	if v.TotalSizeForTypeSample >= clr.MaxSize {
		m.rejected++
		return
	}
	bytes := float64(v.TotalSizeForTypeSample)
	count := int64(v.ObjectCountForTypeSample)
	m.add(p, e, Object, HeapUnknown, nil, v.TypeID, sum{samples: count, bytes: bytes, certain: bytes, objects: float64(count)})
}

func (m *Model) add(p *process, e *pass.Event, source Source, heap Heap, name clr.UTF16, id uint64, s sum) {
	k := key{process: p.index, source: source, heap: heap, typ: m.typ(p, name, id)}
	if m.Stacks != nil {
		k.stack = m.Stacks.Intern(e.Event)
	}
	p.totals[source][heap].add(&s)
	of := m.rows[k]
	if of == nil {
		if m.rows == nil {
			m.rows = make(map[key]*kept)
		}
		if len(m.rows) >= maxRows {
			k.stack = symbol.OtherStacks
			of = m.rows[k]
		}
		if of == nil {
			of = &kept{index: uint32(len(m.rows))}
			m.rows[k] = of
			if m.KeepTimes {
				m.timeline.keys = append(m.timeline.keys, k)
			}
		}
	}
	of.add(&s)
	if m.KeepTimes {
		m.timeline.add(e.Time, of.index, &s)
	}
}

// addLarge adds a sample's bytes if its object is in the LOH and its size is known. Ticks
// have it from .NET 5 on.
func (m *Model) addLarge(p *process, source Source, heap Heap, size uint64, bytes float64) {
	if heap != Large || size == 0 {
		return
	}
	large := &p.large[source]
	large.all += bytes
	for i, limit := range m.LargeLimits[:min(len(m.LargeLimits), maxLimits)] {
		if size < limit {
			large.below[i] += bytes
		}
	}
}

// LargeBelow returns, for each of LargeLimits, the share in percent of the bytes that
// process pid allocated in the LOH in objects smaller than it; nil if source has no sizes
// of large objects.
func (m *Model) LargeBelow(pid uint64, source Source) []float64 {
	p := m.find(pid)
	if p == nil || p.large[source].all <= 0 {
		return nil
	}
	shares := make([]float64, min(len(m.LargeLimits), maxLimits))
	for i := range shares {
		shares[i] = 100 * p.large[source].below[i] / p.large[source].all
	}
	return shares
}

func (m *Model) process(of *pass.Process) *process {
	p, isNew := m.processes.At(of.Index)
	if isNew {
		*p = process{
			pid: of.PID, index: uint32(of.Index),
			names: make(map[string]uint32), ids: make(map[uint64]uint32), types: make([]typeName, firstType),
		}
	}
	return p
}

// find returns the process with a PID, nil if it has no events.
func (m *Model) find(pid uint64) *process {
	return m.processes.Find(func(p *process) bool { return p.pid == pid })
}

// typ returns the index of a type, by its name or else its number.
func (m *Model) typ(p *process, name clr.UTF16, id uint64) uint32 {
	unnamed := clr.Unnamed(name)
	if unnamed && id == 0 {
		return unknownType
	}
	if unnamed {
		return intern(m, p, p.ids, id, typeName{id: id})
	}
	if i, ok := p.names[string(name)]; ok {
		return i
	}
	return intern(m, p, p.names, string(name), typeName{name: name.String()})
}

func intern[K comparable](m *Model, p *process, of map[K]uint32, k K, t typeName) uint32 {
	if i, ok := of[k]; ok {
		return i
	}
	if m.types == maxTypes {
		return otherTypes
	}
	m.types++
	i := uint32(len(p.types))
	of[k] = i
	p.types = append(p.types, t)
	return i
}

// Rejected returns the number of events that are left out, because their sizes are
// impossible.
func (m *Model) Rejected() int { return m.rejected }

// A Total is the allocation of one process according to one source.
type Total struct {
	PID     uint64 // trace.UnknownID if unknown
	Source  Source
	Samples int64
	Estimate
}

// Totals returns the sums of each process by each source that it has, by PID.
func (m *Model) Totals() []Total {
	var totals []Total
	for p := range m.processes.All() {
		for source := range p.totals {
			if s := p.total(Source(source)); s.samples > 0 {
				totals = append(totals, Total{p.pid, Source(source), s.samples, s.whole(Source(source))})
			}
		}
	}
	slices.SortStableFunc(totals, func(a, b Total) int { return cmp.Compare(a.PID, b.PID) })
	return totals
}

func (p *process) total(source Source) sum {
	var all sum
	for i := range p.totals[source] {
		all.add(&p.totals[source][i])
	}
	return all
}

// BestSource returns the best source for a process, SourceUnknown if it has
// none. AllocationSampled comes first, because its estimates are unbiased, then
// ticks, whose amounts are complete.
func (m *Model) BestSource(pid uint64) Source {
	p := m.find(pid)
	if p == nil {
		return SourceUnknown
	}
	for _, s := range [...]Source{Sampled, Tick, Object} {
		if t := p.total(s); t.samples > 0 {
			return s
		}
	}
	return SourceUnknown
}
