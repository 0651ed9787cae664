package symbol

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// A Frame is what is known of a code address.
type Frame struct {
	Address uint64
	Method  string // with its parameters; empty where unknown
	Module  string // the file the code is from, without its folder; empty where unknown
	Offset  uint64 // of the address in Module, where Method is unknown
}

// Resolved reports whether the frame's method is known.
func (f Frame) Resolved() bool { return f.Method != "" }

// String returns the method's name. Without one it is the module with the
// offset in it, or "?".
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

// maxOverlap is how many methods are compared for one address.
const maxOverlap = 4096

// An image is a file that is mapped into a process.
type image struct {
	start, end uint64
	name       string
}

// AddImage tells the table that a file is mapped into a process, for the
// addresses in it that belong to no method.
func (t *Table) AddImage(pid, start, size uint64, path string) {
	if size == 0 || start+size < start {
		return
	}
	if t.modules >= maxModules {
		t.dropped++
		return
	}
	t.modules++
	p := t.process(pid)
	p.images = append(p.images, image{start, start + size, baseName(path)})
	p.sorted = false
}

// AddSymbol tells the table of a method that no event of the runtime names.
func (t *Table) AddSymbol(pid, start uint64, size uint32, name string) {
	if size == 0 || start+uint64(size) < start || name == "" {
		return
	}
	t.add(t.process(pid), method{start: start, size: size, from: always, to: never}, []byte(name))
}

// Resolve returns what is known of an address in a process at a time. It is
// meant for when all events were fed.
func (t *Table) Resolve(pid, address uint64, at time.Duration) Frame {
	p := t.byPID[pid]
	if p == nil {
		return Frame{Address: address}
	}
	p.sort()
	f := Frame{Address: address}
	if m := p.find(address, at); m != nil {
		f.Method = string(p.names[m.name : m.name+m.length])
		f.Module = p.modules[m.module]
		return f
	}
	i := sort.Search(len(p.images), func(i int) bool { return p.images[i].start > address })
	if i > 0 && address < p.images[i-1].end {
		f.Module, f.Offset = p.images[i-1].name, address-p.images[i-1].start
	}
	return f
}

// sort orders images and methods by address, and computes how far those up to each
// one reach.
func (p *process) sort() {
	if p.sorted {
		return
	}
	p.sorted = true
	slices.SortStableFunc(p.images, func(a, b image) int { return cmp.Compare(a.start, b.start) })
	slices.SortStableFunc(p.methods, func(a, b method) int { return cmp.Compare(a.start, b.start) })
	p.reach = slices.Grow(p.reach[:0], len(p.methods))
	clear(p.latest)
	var far uint64
	for i := range p.methods {
		far = max(far, p.methods[i].end())
		p.reach = append(p.reach, far)
		p.latest[p.methods[i].start] = int32(i)
	}
}

// find returns the method at an address at a time: the last one that was loaded
// by then and not unloaded, else the first one that was loaded later.
// Damaged or hostile input in which very many overlap is searched in part.
func (p *process) find(address uint64, at time.Duration) *method {
	var then, later *method
	i := sort.Search(len(p.methods), func(i int) bool { return p.methods[i].start > address })
	for n := 0; i > 0 && p.reach[i-1] > address && n < maxOverlap; n++ {
		i--
		m := &p.methods[i]
		switch {
		case m.end() <= address || m.to <= at:
		case m.from <= at:
			if then == nil || m.from > then.from || m.from == then.from && m.to < then.to {
				then = m
			}
		case later == nil || m.from < later.from:
			later = m
		}
	}
	if then == nil {
		return later
	}
	return then
}

// baseName is a path's last element, of Windows' paths too.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
