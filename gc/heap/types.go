package heap

import (
	"strings"

	"github.com/gctrail/gctrail/clr"
)

// A Type is a type of objects of one process, or of a .gcdump file.
type Type struct {
	ID uint64 // the address of its method table; 0 in a .gcdump
	// Name is the type's name as the runtime writes it: with its type arguments, and for a
	// nested type without the name of the type that declares it. It is empty if unknown.
	Name string
	// Declaring is the type that declares a nested type. It is known where the nested type
	// is an argument of another one, and else empty.
	Declaring   string
	Module      string // the path of its file; empty if unknown
	Finalizable bool
	// Native is set for a type of a NativeAOT program, which sends no names: Name is the
	// type's place in the program's file, such as "+0x2006790".
	Native bool

	module     uint64
	parameters []uint64
	array      bool
}

// String returns the name with that of the type that declares it, or else the address of
// the method table.
func (t *Type) String() string {
	switch {
	case t.Name == "":
		return "0x" + hex(t.ID)
	case t.Declaring != "":
		return t.Declaring + "+" + t.Name
	}
	return t.Name
}

// Matches reports whether the type's name, with the declaring type, is as a pattern in which
// * stands for any text. Case does not matter.
func (t *Type) Matches(pattern string) bool {
	name := strings.ToLower(t.String())
	parts := strings.Split(strings.ToLower(pattern), "*")
	if len(parts) == 1 {
		return name == parts[0]
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name = after
	}
	return true
}

// maxTypeBytes bounds the names of the types of a process: the others have none. MaxTypes
// bounds the types themselves: objects of others are of the type with the ID 0.
const (
	maxTypeBytes = 64 << 20
	maxTypes     = 1 << 20
	maxModules   = 1 << 16
)

// A types holds the types of a process. Snapshots refer to them by index.
type types struct {
	all     []*Type
	byID    map[uint64]uint32
	recent  [1 << 8]recent
	bytes   int
	modules map[uint64]string
}

type recent struct {
	id    uint64
	index uint32
	known bool
}

// index returns the index of a type, which may have no name yet.
func (t *types) index(id uint64) uint32 {
	r := &t.recent[id>>4%uint64(len(t.recent))]
	if !r.known || r.id != id {
		*r = recent{id, t.find(id), true}
	}
	return r.index
}

func (t *types) find(id uint64) uint32 {
	i, known := t.byID[id]
	if !known && len(t.all) >= maxTypes {
		id = 0
		i, known = t.byID[id]
	}
	if !known {
		if t.byID == nil {
			t.byID = make(map[uint64]uint32)
		}
		i = uint32(len(t.all))
		t.byID[id] = i
		t.all = append(t.all, &Type{ID: id})
	}
	return i
}

// named takes the name of a type, which the runtime gives to another one after the first
// is unloaded.
func (t *types) named(v *clr.BulkTypeValue) {
	size := len(v.Name) + 8*len(v.TypeParameters)
	if t.bytes+size > maxTypeBytes || len(t.all) >= maxTypes {
		return
	}
	t.bytes += size
	of := t.all[t.index(v.TypeID)]
	of.Name, of.module = v.Name.String(), v.ModuleID
	if name := v.NativeName(); name != "" {
		of.Name, of.Native = name, true
	}
	of.Finalizable, of.array = v.Flags&clr.TypeFlagsFinalizable != 0, v.Flags&clr.TypeFlagsArray != 0
	of.parameters = append([]uint64(nil), v.TypeParameters...)
}

func (t *types) load(module uint64, path string) {
	if t.modules == nil {
		t.modules = make(map[uint64]string)
	}
	if len(t.modules) < maxModules {
		t.modules[module] = path
	}
}

// resolve completes the types by events that came after them in the trace: the paths of
// modules, and the names of nested types that are arguments of other types.
func (t *types) resolve() {
	for _, of := range t.all {
		of.Module = t.modules[of.module]
	}
	for _, of := range t.all {
		if of.array || len(of.parameters) == 0 {
			continue
		}
		for i, name := range arguments(of.Name) {
			if i == len(of.parameters) {
				break
			}
			if k, known := t.byID[of.parameters[i]]; known {
				t.all[k].declaredBy(name)
			}
		}
	}
}

// borrow takes missing names of types from another trace, and returns how many. It fails if the
// other trace is not of the same process: modules and types are addresses, of which both then
// have the same ones, except for a few that were unloaded between them.
func (t *types) borrow(from *types) (named int, err error) {
	var same, different int
	check := func(equal bool) {
		if equal {
			same++
		} else {
			different++
		}
	}
	for id, path := range t.modules {
		if other, known := from.modules[id]; known {
			check(other == path)
		}
	}
	var names [][2]*Type
	nameless := 0
	for _, of := range t.all {
		if of.Name == "" {
			nameless++
		}
		i, known := from.byID[of.ID]
		switch {
		case !known || from.all[i].Name == "":
		case of.Name == "":
			names = append(names, [2]*Type{of, from.all[i]})
		default:
			check(of.Name == from.all[i].Name)
		}
	}
	apart := len(t.modules) > 0 && len(from.modules) > 0 && same == 0
	if len(names)+same == 0 || len(names) == 0 && nameless > 0 || apart || different > 0 && different >= same {
		return 0, ErrOtherProcess
	}
	for _, n := range names {
		*n[0] = *n[1]
	}
	return len(names), nil
}

// declaredBy takes the declaring type from the type's full name.
func (t *Type) declaredBy(full string) {
	name, _, _ := strings.Cut(full, "[")
	if i := strings.LastIndexByte(name, '+'); i > 0 && strings.HasPrefix(t.Name, name[i+1:]) {
		t.Declaring = name[:i]
	}
}

// arguments returns the type arguments in a name, such as System.String and Shop.Order in
// Entry[System.String,Shop.Order].
func arguments(name string) []string {
	_, list, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	var all []string
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, list[from:i])
				from = i + 1
			}
		}
	}
	return append(all, list[from:])
}
