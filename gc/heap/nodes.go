package heap

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// nodes are the objects of a walk, numbered in its order. The runtime writes them region by
// region, in ascending order within one, so that a run needs four bytes for an address.
type nodes struct {
	runs   []run
	offset column[uint32] // from the start of the run, in units
	size   column[uint32] // in bytes; math.MaxUint32 for one that is in large
	large  map[uint32]uint64
	typ    column[uint16] // the index of the type; empty once an index does not fit
	wide   column[uint32] // the same then
}

// A run is a stretch of objects with ascending addresses.
type run struct {
	start, last uint64 // addresses of the first and the last object
	first, n    uint32 // their numbers are from first on
}

// unit divides all distances of objects, with pointers of 4 bytes too.
const unit = 4

func (n *nodes) len() int { return n.offset.n }

func (n *nodes) add(address, size uint64, typ uint32) {
	var r *run
	if len(n.runs) > 0 {
		r = &n.runs[len(n.runs)-1]
	}
	if r == nil || address <= r.last || (address-r.start)%unit != 0 || (address-r.start)/unit > math.MaxUint32 {
		n.runs = append(n.runs, run{start: address, first: uint32(n.len())})
		r = &n.runs[len(n.runs)-1]
	}
	r.last = address
	r.n++
	if size >= math.MaxUint32 {
		if n.large == nil {
			n.large = make(map[uint32]uint64)
		}
		n.large[uint32(n.len())] = size
		size = math.MaxUint32
	}
	n.offset.add(uint32((address - r.start) / unit))
	n.size.add(uint32(size))
	n.addType(typ)
}

func (n *nodes) addType(typ uint32) {
	if n.wide.n == 0 && typ <= math.MaxUint16 {
		n.typ.add(uint16(typ))
		return
	}
	for _, chunk := range n.typ.chunks {
		for _, t := range chunk {
			n.wide.add(uint32(t))
		}
	}
	n.typ = column[uint16]{}
	n.wide.add(typ)
}

// typeOf returns the index of an object's type.
func (n *nodes) typeOf(i uint32) uint32 {
	if n.wide.n > 0 {
		return n.wide.at(i)
	}
	return uint32(n.typ.at(i))
}

// sizeOf returns the size of an object in bytes, as the event has it.
func (n *nodes) sizeOf(i uint32) uint64 {
	size := n.size.at(i)
	if size == math.MaxUint32 {
		return n.large[i]
	}
	return uint64(size)
}

// addressOf returns the address of an object.
func (n *nodes) addressOf(i uint32) uint64 {
	k := sort.Search(len(n.runs), func(k int) bool { return n.runs[k].first > i }) - 1
	return n.runs[k].start + uint64(n.offset.at(i))*unit
}

// An index finds objects by address.
type index struct {
	nodes  *nodes
	pieces []piece // in order of address, without overlap; nil if sorted is in use
	latest int

	sorted     []uint32 // the numbers of objects in order of address
	duplicates int      // objects at the address of an earlier one, which are not found
}

// A piece is a part of a run in which no other run has an object.
type piece struct {
	lo, hi   uint64 // addresses of the first and the last object
	start    uint64 // of the run
	first, n uint32
	shift    uint8
	buckets  []uint32 // by (address - lo) >> shift: the first object there or behind
}

// newIndex returns an index of the objects. Runs overlap where the regions of a generation
// surround another's: these are divided. If they still do, the walk is not the runtime's,
// and all objects are sorted.
func newIndex(n *nodes) *index {
	x := &index{nodes: n, pieces: n.pieces()}
	if x.pieces == nil {
		x.sort()
		return x
	}
	for i := range x.pieces {
		x.pieces[i].divide(n)
	}
	return x
}

// pieces divides runs where others begin, and returns the parts in order of address; nil if
// they overlap, or if there are so many that they would need more memory than the objects,
// because addresses do not ascend.
func (n *nodes) pieces() []piece {
	const few, each = 1000, 8
	if len(n.runs) > few+n.len()/each {
		return nil
	}
	starts := make([]uint64, len(n.runs))
	for i := range n.runs {
		starts[i] = n.runs[i].start
	}
	slices.Sort(starts)
	var all []piece
	for i := range n.runs {
		r := &n.runs[i]
		for first, end := r.first, r.first+r.n; first < end; {
			lo := r.start + uint64(n.offset.at(first))*unit
			next := end
			if k := sort.Search(len(starts), func(k int) bool { return starts[k] > lo }); k < len(starts) && starts[k] <= r.last {
				next = n.search(r.start, starts[k], first, end)
			}
			hi := r.start + uint64(n.offset.at(next-1))*unit
			all = append(all, piece{lo: lo, hi: hi, start: r.start, first: first, n: next - first})
			first = next
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].lo < all[j].lo })
	for i := 1; i < len(all); i++ {
		if all[i].lo <= all[i-1].hi {
			return nil
		}
	}
	return all
}

// search returns the first object from a to below b, of the run that starts at start,
// which is at an address or behind it; b if none is.
func (n *nodes) search(start, address uint64, a, b uint32) uint32 {
	for a < b {
		middle := a + (b-a)/2
		if start+uint64(n.offset.at(middle))*unit < address {
			a = middle + 1
		} else {
			b = middle
		}
	}
	return a
}

// divide makes the buckets, of about two objects.
func (p *piece) divide(n *nodes) {
	const few = 2
	for (p.hi-p.lo)>>p.shift > uint64(p.n)/few+1 {
		p.shift++
	}
	p.buckets = make([]uint32, (p.hi-p.lo)>>p.shift+2)
	at := 0
	for i := p.first; i < p.first+p.n; i++ {
		bucket := int((p.start + uint64(n.offset.at(i))*unit - p.lo) >> p.shift)
		for ; at <= bucket; at++ {
			p.buckets[at] = i
		}
	}
	for ; at < len(p.buckets); at++ {
		p.buckets[at] = p.first + p.n
	}
}

// sort puts the objects in order of address, the first of several at one address only.
func (x *index) sort() {
	all, address := make([]uint32, x.nodes.len()), make([]uint64, x.nodes.len())
	for i := range all {
		all[i], address[i] = uint32(i), x.nodes.addressOf(uint32(i))
	}
	slices.SortFunc(all, func(a, b uint32) int { return cmp.Or(cmp.Compare(address[a], address[b]), cmp.Compare(a, b)) })
	x.sorted = slices.CompactFunc(all, func(a, b uint32) bool { return address[a] == address[b] })
	x.duplicates = x.nodes.len() - len(x.sorted)
}

// none is the number of no object.
const none = math.MaxUint32

// find returns the object at an address, or none.
func (x *index) find(address uint64) uint32 {
	if x.pieces == nil {
		i := sort.Search(len(x.sorted), func(i int) bool { return x.nodes.addressOf(x.sorted[i]) >= address })
		if i == len(x.sorted) || x.nodes.addressOf(x.sorted[i]) != address {
			return none
		}
		return x.sorted[i]
	}
	p := &x.pieces[x.latest]
	if address < p.lo || address > p.hi {
		if p = x.piece(address); p == nil {
			return none
		}
	}
	bucket := (address - p.lo) >> p.shift
	from, to := p.buckets[bucket], p.buckets[bucket+1]
	const few = 8
	if to-from > few {
		from = x.nodes.search(p.start, address, from, to)
	}
	want := uint32((address - p.start) / unit)
	for ; from < to; from++ {
		if x.nodes.offset.at(from) >= want {
			if (address-p.start)%unit == 0 && x.nodes.offset.at(from) == want {
				return from
			}
			break
		}
	}
	return none
}

// piece returns the piece that an address is in, or nil.
func (x *index) piece(address uint64) *piece {
	i := sort.Search(len(x.pieces), func(i int) bool { return x.pieces[i].lo > address }) - 1
	if i < 0 || address > x.pieces[i].hi {
		return nil
	}
	x.latest = i
	return &x.pieces[i]
}
