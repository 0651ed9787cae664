package clr

import (
	"iter"
	"slices"

	"github.com/gctrail/gctrail/trace"
)

// A Kind is one of the events that the package has a struct for, in any
// version. The zero Kind is KindUnknown.
type Kind uint16

// KindOf returns the kind of the event with this id, or KindUnknown.
func KindOf(provider string, id uint32) Kind {
	kinds := kindsOf(provider)
	if uint64(id) >= uint64(len(kinds)) {
		return KindUnknown
	}
	return kinds[id]
}

// Declared reports whether a trace can contain events of a kind. A trace without
// declarations can contain any.
func Declared(info *trace.Info, k Kind) bool {
	return info.Declared == nil || slices.ContainsFunc(info.Declared, func(d trace.Descriptor) bool {
		return KindOf(d.Provider, d.ID) == k
	})
}

// String returns the event's name without a version, or "" for KindUnknown.
// Events of two providers may have one name.
func (k Kind) String() string { return k.schema().name }

// An Event is a struct of this package, with the fields of one kind of event.
type Event interface {
	EventKind() Kind
	Decode(version uint32, payload []byte, ptrSize int) error
	Append(dst []byte, version uint32, ptrSize int) []byte
}

// New returns a new struct for events of the kind, nil for KindUnknown.
func (k Kind) New() Event {
	if k == KindUnknown || k >= numKinds {
		return nil
	}
	return newEvent[k]()
}

// NumKinds is more than any Kind, for arrays by kind.
const NumKinds = int(numKinds)

// Provider returns the name of the provider that raises the event, "" for
// KindUnknown.
func (k Kind) Provider() string { return k.schema().provider }

// ID returns the event's id.
func (k Kind) ID() uint32 { return k.schema().id }

// Level returns the level that the runtime raises the event at: 0 always, 2
// error, 4 informational, 5 verbose.
func (k Kind) Level() uint8 { return k.schema().level }

// Keywords returns the event's keywords: it is raised if a session enables at
// least one of them. An event without keywords is always raised.
func (k Kind) Keywords() uint64 { return k.schema().keywords }

// Versions returns the versions that the package knows, from the oldest on.
func (k Kind) Versions() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range k.schema().layouts {
			if !yield(k.schema().layouts[i].version) {
				return
			}
		}
	}
}

func (k Kind) schema() *schema {
	if k >= numKinds {
		k = KindUnknown
	}
	return &schemas[k]
}

// Opcode returns the event's opcode in the manifest, 0 if it has none.
// EventPipe traces do not contain the opcodes of the runtime's own events.
func (k Kind) Opcode() uint8 { return k.schema().opcode }

// DynamicKindOf returns the kind of event that a GCDynamicEvent of this name
// carries, or DynamicUnknown.
func DynamicKindOf(name UTF16) DynamicKind {
	for k := range dynamicSchemas {
		if DynamicKind(k) != DynamicUnknown && name.Equal(dynamicSchemas[k].name) {
			return DynamicKind(k)
		}
	}
	return DynamicUnknown
}

// Size returns the length of the GCDynamicEvent.Data of this kind, without the fields
// that later runtimes may append; 0 for DynamicUnknown.
func (k DynamicKind) Size() int {
	size := 0
	if int(k) < len(dynamicSchemas) && k != DynamicUnknown {
		for _, f := range dynamicSchemas[k].layouts[0].fields {
			size += fixedSize[f.code]
		}
	}
	return size
}

// ProviderByGUID returns the name of a provider that raises the runtime's
// events.
func ProviderByGUID(g GUID) (string, bool) {
	for _, p := range providers {
		if p.guid == g {
			return p.name, true
		}
	}
	return "", false
}

// TimeNames returns the phases of the times in a GCGlobalHeapHistory, in order. The
// number of times depends on the collection: 5 for a background one, 7 for one that
// swept, 8 for one that compacted; for any other number the result is nil.
func TimeNames(count int) []string {
	for _, names := range timeNames {
		if len(names) == count {
			return slices.Clone(names)
		}
	}
	return nil
}
