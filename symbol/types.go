package symbol

import (
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// maxTypes and maxTypeBytes bound a Types.
const (
	maxTypes     = 1 << 18
	maxTypeBytes = 16 << 20
	maxNesting   = 8
)

// Types holds the names of the types that events identify only by number. The
// zero Types is empty and ready for use.
type Types struct {
	byID    map[typeID]typeName
	bytes   int
	dropped int
	decoded clr.BulkType
}

// A typeID is a type of a process.
type typeID struct{ pid, id uint64 }

type typeName struct {
	name      string
	arguments []uint64
}

// WantsTypes reports whether a Types reads events of a kind.
func WantsTypes(d *trace.Descriptor) bool {
	return clr.KindOf(d.Provider, d.ID) == clr.KindBulkType
}

// Feed processes one event, which may be of any kind.
func (t *Types) Feed(ev *trace.Event) {
	if !WantsTypes(ev.Desc) {
		return
	}
	_ = t.decoded.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) // a part counts
	for i := range t.decoded.Values {
		t.add(ev.PID, &t.decoded.Values[i])
	}
}

func (t *Types) add(pid uint64, v *clr.BulkTypeValue) {
	key := typeID{pid, v.TypeID}
	name := v.NativeName()
	if _, known := t.byID[key]; known || len(v.Name)+len(name) == 0 {
		return
	}
	size := len(v.Name) + len(name) + 8*len(v.TypeParameters)
	if len(t.byID) >= maxTypes || t.bytes+size > maxTypeBytes {
		t.dropped++
		return
	}
	t.bytes += size
	if t.byID == nil {
		t.byID = make(map[typeID]typeName)
	}
	if name != "" { // its arguments are in it
		t.byID[key] = typeName{name: name}
		return
	}
	t.byID[key] = typeName{v.Name.String(), append([]uint64(nil), v.TypeParameters...)}
}

// Name returns the name of a type, with its type arguments as .NET prints them;
// empty if unknown.
func (t *Types) Name(pid, id uint64) string { return t.name(pid, id, 0) }

func (t *Types) name(pid, id uint64, depth int) string {
	n, ok := t.byID[typeID{pid, id}]
	if !ok || len(n.arguments) == 0 || depth == maxNesting || strings.ContainsRune(n.name, '[') {
		return n.name
	}
	names := make([]string, len(n.arguments))
	for i, a := range n.arguments {
		if names[i] = t.name(pid, a, depth+1); names[i] == "" {
			return n.name
		}
	}
	return n.name + "[" + strings.Join(names, ",") + "]"
}
