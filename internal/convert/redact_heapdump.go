package convert

import (
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/heap"
)

// HeapDump redacts the snapshot of a .gcdump file, as it does the events that a trace has of
// one: the names of types, of the files that they are from, and of static fields.
func (r *Redactor) HeapDump(s *heap.Snapshot) {
	ids := make(map[string]uint64) // of files
	of := func(u *heap.TypeUse) key { return key{s.PID, ids[u.Module]} }
	for i := range s.Types {
		u := &s.Types[i]
		if ids[u.Module] == 0 {
			ids[u.Module] = uint64(len(ids) + 1)
			if r.system != nil {
				r.system.addModule(s.PID, &clr.ModuleLoad{ModuleID: of(u).id, ModuleILPath: clr.NewUTF16(u.Module)})
			}
		}
		if r.system != nil {
			name, _, _ := strings.Cut(u.Name, "<")
			r.system.addType(name, of(u))
		}
	}
	for i := range s.Types {
		u := &s.Types[i]
		module := of(u)
		u.Name, u.Declaring = r.dumpedType(u.Name), r.dumpedType(u.Declaring)
		u.Module = r.path(u.Module, module)
	}
	if s.Graph == nil {
		return
	}
	roots := s.Graph.Roots()
	for i := range roots {
		roots[i].Field = r.Name(roots[i].Field)
	}
}

// dumpedType redacts a type's name as PerfView writes it: with its arguments in <>, and with
// the order of magnitude of its objects' sizes.
func (r *Redactor) dumpedType(name string) string {
	const sizes = " (Bytes > "
	name, size, large := strings.Cut(name, sizes)
	if r.system != nil {
		name = r.types(name, "[],<>", r.system.keeps)
	} else {
		name = r.Name(name)
	}
	if large {
		name += sizes + size
	}
	return name
}
