package handle

import (
	"cmp"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// maxPinned bounds the objects, and the types, that Pins follows.
const (
	maxPinned = 1 << 18
	maxTypes  = 1 << 14
)

// Pins sums up the objects that are pinned during collections. The zero value
// is ready for use, by one goroutine.
type Pins struct {
	kinds     kinds
	processes []*pins
	byPID     map[uint64]*pins
	pin       clr.PinObjectAtGCTime
	plug      clr.PinPlugAtGCTime
}

// pins are those of one process.
type pins struct {
	pid         uint64
	collections int64            // begun
	objects     map[uint64]int64 // in how many collections in a row each is pinned
	before      map[uint64]int64 // of the collection before
	types       map[string]*pinSum
	whole       PinTotal
}

type pinSum struct {
	count, bytes, collections, objects, longest int64
	last                                        int64 // collection
}

// A PinTotal sums up what one process pinned.
type PinTotal struct {
	PID         uint64
	Collections int64 // in which something was pinned
	Count       int64 // of objects, counted once in each collection
	// Plugs counts the pinned plugs that the private provider reports, and Gap
	// the free bytes before them; both are 0 without that provider.
	Plugs, Gap int64
}

// A Pin sums up the pinned objects of a type.
type Pin struct {
	PID         uint64
	Type        string // empty if unknown
	Count       int64  // of pins: objects, counted once in each collection
	Bytes       int64  // of Count
	Objects     int64  // distinct objects, by address in consecutive collections
	Collections int64
	Longest     int64 // the most collections in a row that an object was pinned in
}

// Feed processes one event, which may be of any kind.
func (p *Pins) Feed(ev *trace.Event) {
	switch p.kinds.of(ev.Desc) {
	case clr.KindGCStart:
		p.process(ev.PID).begin()
	case clr.KindPinObjectAtGCTime:
		if v := &p.pin; v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) == nil {
			p.process(ev.PID).add(v)
		}
	case clr.KindPinPlugAtGCTime:
		if v := &p.plug; v.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) == nil {
			whole := &p.process(ev.PID).whole
			whole.Plugs++
			whole.Gap += int64(v.GapBeforeSize)
		}
	}
}

func (p *Pins) process(pid uint64) *pins {
	of := p.byPID[pid]
	if of == nil {
		if p.byPID == nil {
			p.byPID = make(map[uint64]*pins)
		}
		of = &pins{
			pid: pid, types: make(map[string]*pinSum), whole: PinTotal{PID: pid},
			objects: make(map[uint64]int64), before: make(map[uint64]int64),
		}
		p.byPID[pid] = of
		p.processes = append(p.processes, of)
	}
	return of
}

// begin notes the start of a collection. One during which nothing is pinned
// ends all runs.
func (p *pins) begin() {
	p.collections++
	if len(p.objects) > 0 {
		p.whole.Collections++
	}
	p.before, p.objects = p.objects, p.before
	clear(p.objects)
}

func (p *pins) add(v *clr.PinObjectAtGCTime) {
	s := p.types[string(v.TypeName)]
	if s == nil {
		key := string(v.TypeName)
		if len(p.types) >= maxTypes {
			key = ""
		}
		if s = p.types[key]; s == nil {
			s = &pinSum{last: -1}
			p.types[key] = s
		}
	}
	s.count++
	s.bytes += int64(v.ObjectSize)
	p.whole.Count++
	if s.last != p.collections {
		s.last = p.collections
		s.collections++
	}
	if _, again := p.objects[v.ObjectID]; again || len(p.objects) >= maxPinned {
		return
	}
	run := p.before[v.ObjectID] + 1
	p.objects[v.ObjectID] = run
	s.longest = max(s.longest, run)
	if run == 1 {
		s.objects++
	}
}

// Processes returns the totals of each process in which something was pinned.
func (p *Pins) Processes() []PinTotal {
	var all []PinTotal
	for _, of := range p.processes {
		t := of.whole
		if len(of.objects) > 0 {
			t.Collections++
		}
		if t.Count+t.Plugs > 0 {
			all = append(all, t)
		}
	}
	return all
}

// Rows returns a process's pins by type, those with the most bytes first.
func (p *Pins) Rows(pid uint64) []Pin {
	of := p.byPID[pid]
	if of == nil {
		return nil
	}
	rows := make([]Pin, 0, len(of.types))
	for name, s := range of.types {
		rows = append(rows, Pin{
			PID: pid, Type: clr.UTF16(name).String(), Count: s.count, Bytes: s.bytes,
			Objects: s.objects, Collections: s.collections, Longest: s.longest,
		})
	}
	slices.SortFunc(rows, func(a, b Pin) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type))
	})
	return rows
}
