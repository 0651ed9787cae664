package symbol

import (
	"hash/maphash"
	"iter"
	"slices"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// A StackID is an interned stack.
type StackID uint32

const (
	// NoStack is the stack of an event that came without one.
	NoStack StackID = 0
	// OtherStacks is the ID of all stacks for which there was no room.
	OtherStacks StackID = 1
)

// The bounds of a Stacks: about 40 MB.
const (
	maxNodes     = 1 << 20
	maxAddresses = 1 << 18
	maxCache     = 1 << 14
)

// A Stacks interns the stacks of events. Stacks share the frames that they have
// in common from the outermost on. Its memory is bounded: stacks for which
// there is no room become OtherStacks.
type Stacks struct {
	table  *Table   // that knows the processes
	tables []*Table // that name frames
	addrs  []address
	nodes  []node   // a frame of stacks, by StackID
	slots  []uint32 // a hash table of nodes; 0 is free
	seed   maphash.Seed
	cache  []cached

	raw    []uint64
	frames []Frame // by address, resolved; zero if not yet
}

// An address is a place in the code of a process, and when it was first seen
// there.
type address struct {
	process *process
	addr    uint64
	at      time.Duration
}

// A node is a frame with the frames that it was called from.
type node struct {
	caller StackID // NoStack for the outermost
	addr   uint32  // index of an address
}

// A cached stack was interned recently.
type cached struct {
	hash    uint64
	process *process
	stack   StackID
}

// An addresses holds the addresses of one process in stacks.
type addresses struct {
	stacks *Stacks
	ids    map[uint64]uint32
	pages  map[uint64]struct{}
}

const pageBits = 12

// NewStacks returns a Stacks whose frames table resolves. Stacks must be
// interned, and the table fed, in the order of the trace.
func NewStacks(table *Table) *Stacks {
	return &Stacks{
		table: table, tables: []*Table{table},
		nodes: make([]node, 2, 1<<10),
		slots: make([]uint32, 1<<11),
		cache: make([]cached, 1<<8),
		seed:  maphash.MakeSeed(),
	}
}

// Len returns the number of frames stored.
func (s *Stacks) Len() int { return len(s.nodes) }

// Intern returns the stack of an event.
func (s *Stacks) Intern(ev *trace.Event) StackID {
	if ev.StackLen() == 0 {
		return NoStack
	}
	s.raw = ev.AppendStack(s.raw[:0])
	p := s.table.process(ev.PID)
	hash := hashOf(s.raw)
	c := &s.cache[hash%uint64(len(s.cache))]
	if c.hash == hash && c.process == p && s.is(c.stack, s.raw) {
		return c.stack
	}
	if p.seen == nil {
		p.seen = &addresses{stacks: s, ids: make(map[uint64]uint32), pages: make(map[uint64]struct{})}
	}
	id, at := NoStack, ev.Time()
	for _, addr := range slices.Backward(s.raw) {
		a, ok := s.address(p, addr, at)
		if !ok {
			return OtherStacks
		}
		if id = s.node(node{id, a}); id == OtherStacks {
			return OtherStacks
		}
	}
	s.cache[hash%uint64(len(s.cache))] = cached{hash, p, id} // which may have grown
	return id
}

// hashOf spreads the addresses of a whole stack. Stacks of equal hashes are
// compared.
func hashOf(raw []uint64) uint64 {
	h := uint64(len(raw))
	for _, v := range raw {
		h = mix(h ^ v)
	}
	return h
}

// mix spreads the bits of x over the whole word.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// is reports whether a stack has these addresses, leaf first.
func (s *Stacks) is(id StackID, raw []uint64) bool {
	for _, addr := range raw {
		if id == NoStack || s.addrs[s.nodes[id].addr].addr != addr {
			return false
		}
		id = s.nodes[id].caller
	}
	return id == NoStack
}

// address returns the index of an address, false if there is no room.
func (s *Stacks) address(p *process, addr uint64, at time.Duration) (uint32, bool) {
	if id, ok := p.seen.ids[addr]; ok {
		return id, true
	}
	if len(s.addrs) == maxAddresses {
		return 0, false
	}
	id := uint32(len(s.addrs))
	s.addrs = append(s.addrs, address{p, addr, at})
	p.seen.ids[addr] = id
	p.seen.pages[addr>>pageBits] = struct{}{}
	return id, true
}

// node returns the stack that n is the leaf of, OtherStacks if there is no room
// for it.
func (s *Stacks) node(n node) StackID {
	mask := uint64(len(s.slots) - 1)
	i := s.slot(n)
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if s.nodes[s.slots[i]] == n {
			return StackID(s.slots[i])
		}
	}
	if len(s.nodes) == maxNodes {
		return OtherStacks
	}
	id := StackID(len(s.nodes))
	s.nodes = append(s.nodes, n)
	s.slots[i] = uint32(id)
	if 2*len(s.nodes) > len(s.slots) {
		s.grow()
	}
	return id
}

func (s *Stacks) slot(n node) uint64 {
	return maphash.Comparable(s.seed, n) & uint64(len(s.slots)-1)
}

func (s *Stacks) grow() {
	if n := min(maxCache, len(s.slots)/4); n > len(s.cache) {
		s.cache = make([]cached, n)
	}
	s.slots = make([]uint32, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for id, n := range s.nodes {
		if StackID(id) <= OtherStacks {
			continue
		}
		i := s.slot(n)
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = uint32(id)
	}
}

// NameBy makes other tables name the frames: the first one that has a name. They may have been
// fed with other traces of the same processes. Nothing can be interned after that.
func (s *Stacks) NameBy(tables ...*Table) { s.tables, s.frames = tables, nil }

// Addresses yields the addresses of all frames of a process.
func (s *Stacks) Addresses(pid uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range s.addrs {
			if a := &s.addrs[i]; a.process.pid == pid && !yield(a.addr) {
				return
			}
		}
	}
}

// Frames yields the frames of a stack, leaf first. Names are final once all
// events have been fed to the table.
func (s *Stacks) Frames(id StackID) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for id > OtherStacks && int(id) < len(s.nodes) {
			if !yield(s.frame(s.nodes[id].addr)) {
				return
			}
			id = s.nodes[id].caller
		}
	}
}

func (s *Stacks) frame(i uint32) Frame {
	if len(s.frames) < len(s.addrs) {
		s.frames = append(s.frames, make([]Frame, len(s.addrs)-len(s.frames))...)
	}
	f := &s.frames[i]
	if a := &s.addrs[i]; !f.Resolved() { // a later event may name it
		for _, t := range s.tables {
			if *f = t.Resolve(a.process.pid, a.addr, a.at); f.Resolved() {
				break
			}
		}
	}
	return *f
}

// Merged returns, indexed by StackID, one representative for all stacks with the same
// frames as Frame.String prints them: places in one method count as one.
func (s *Stacks) Merged() []StackID {
	names := make(map[string]uint32)
	byAddr := make([]uint32, len(s.addrs))
	for i := range s.addrs {
		name := s.frame(uint32(i)).String()
		id, ok := names[name]
		if !ok {
			id = uint32(len(names))
			names[name] = id
		}
		byAddr[i] = id
	}
	merged := make([]StackID, len(s.nodes))
	merged[OtherStacks] = OtherStacks
	first := make(map[node]StackID, len(s.nodes))
	for id := OtherStacks + 1; int(id) < len(s.nodes); id++ {
		n := node{merged[s.nodes[id].caller], byAddr[s.nodes[id].addr]}
		if _, ok := first[n]; !ok {
			first[n] = id
		}
		merged[id] = first[n]
	}
	return merged
}

// replaced forgets the addresses in [start, end), because new code was loaded there.
func (a *addresses) replaced(start, end uint64) {
	forget := func(addr uint64) {
		if _, ok := a.ids[addr]; ok {
			delete(a.ids, addr)
			clear(a.stacks.cache)
		}
	}
	if end-start > uint64(len(a.ids)) {
		for addr := range a.ids {
			if start <= addr && addr < end {
				forget(addr)
			}
		}
		return
	}
	for page := start >> pageBits; page <= (end-1)>>pageBits; page++ {
		if _, ok := a.pages[page]; !ok {
			continue
		}
		for addr := max(start, page<<pageBits); addr < min(end, (page+1)<<pageBits); addr++ {
			forget(addr)
		}
	}
}
