package nettrace

import (
	"reflect"
	"unsafe"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// A kind is a metadata record in use: the kind of event that its id identifies.
type kind struct {
	desc  *trace.Descriptor
	want  bool
	names bool   // its events name their process
	plain bool   // its events are counted only
	count uint64 // of events, wanted or not
	index uint32 // in kindTable.all
	// fields are the record's own, because Options.Complete may give desc others.
	fields []trace.Field
}

const (
	// maxKindBytes bounds the memory of the kinds of events that a trace defines.
	// The largest real traces have a few thousand kinds.
	maxKindBytes = 16 << 20
	// maxMerged bounds the kinds derived from others by V6 label lists. Beyond it, the
	// metadata applies.
	maxMerged = 1 << 12
	// denseKinds is up to where metadata ids index a slice.
	denseKinds = 1 << 16
)

// A kindTable finds kinds by metadata id. The runtime numbers from 1, so that
// a slice serves; stray ids go to a map.
type kindTable struct {
	dense  []*kind
	wanted []uint32 // 1 + the index of the kind of an id, 0 if its events are not wanted or more is to be read of them
	plain  []bool   // whether an event of the id is counted only, and has a number
	sparse map[uint32]*kind
	all    []*kind             // in the order of definition, with redefined ones
	descs  []*trace.Descriptor // of all
	runs   []bool              // whether events of all may be in runs
	same   map[kindKey]*kind
	size   int // bytes, about
}

// A kindKey is a metadata record without the fields.
type kindKey struct {
	provider, name string
	id, version    uint32
	opcode, level  uint8
	keywords       uint64
}

func keyOf(d *trace.Descriptor) kindKey {
	return kindKey{d.Provider, d.Name, d.ID, d.Version, d.Opcode, d.Level, d.Keywords}
}

// find returns the kind that a record defines again, or nil.
func (t *kindTable) find(d *trace.Descriptor) *kind {
	k := t.same[keyOf(d)]
	if k == nil || !reflect.DeepEqual(k.fields, d.Fields) {
		return nil
	}
	return k
}

// add adds a kind, which the record d defines.
func (t *kindTable) add(d *trace.Descriptor, k *kind) error {
	size := len(d.Provider) + len(d.Name) + fieldBytes(d.Fields) +
		int(unsafe.Sizeof(kind{})+unsafe.Sizeof(trace.Descriptor{})+2*unsafe.Sizeof(kindKey{}))
	if t.size += size; t.size > maxKindBytes {
		return binread.Malformed("more than %d MiB of metadata", maxKindBytes>>20)
	}
	if t.same == nil {
		t.same = make(map[kindKey]*kind)
	}
	t.same[keyOf(d)] = k
	k.index = uint32(len(t.all))
	t.all, t.descs, t.runs = append(t.all, k), append(t.descs, d), append(t.runs, false)
	return nil
}

// fieldBytes returns the memory of field descriptions.
func fieldBytes(fields []trace.Field) int {
	n := len(fields) * int(unsafe.Sizeof(trace.Field{}))
	for i := range fields {
		f := &fields[i]
		n += len(f.Name) + fieldBytes(f.Fields)
		for f = f.Elem; f != nil; f = f.Elem {
			n += int(unsafe.Sizeof(*f)) + fieldBytes(f.Fields)
		}
	}
	return n
}

func (t *kindTable) get(id uint32) *kind {
	if int64(id) < int64(len(t.dense)) {
		return t.dense[id]
	}
	return t.sparse[id]
}

func (t *kindTable) set(id uint32, k *kind) error {
	if id >= denseKinds {
		if t.sparse == nil {
			t.sparse = make(map[uint32]*kind)
		}
		if _, ok := t.sparse[id]; !ok && len(t.sparse) == denseKinds {
			return binread.Malformed("more than %d metadata ids from %d on", denseKinds, denseKinds)
		}
		t.sparse[id] = k
		return nil
	}
	for int64(len(t.dense)) <= int64(id) {
		t.dense, t.plain, t.wanted = append(t.dense, nil), append(t.plain, false), append(t.wanted, 0)
	}
	t.dense[id], t.plain[id], t.wanted[id] = k, k.plain && id != 0, pick(k.want && !k.names && id != 0, k.index+1, 0)
	return nil
}

// clear forgets the ids, as a V6 sequence point may demand.
func (t *kindTable) clear() {
	clear(t.dense)
	clear(t.plain)
	clear(t.wanted)
	clear(t.sparse)
}
