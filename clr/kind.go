package clr

// A Kind is one of the events that the package has a struct for, in any
// version. The zero Kind is KindUnknown.
type Kind uint16

// KindOf is the kind of the event with this id, or KindUnknown.
func KindOf(provider string, id uint32) Kind {
	var kinds []Kind
	switch provider {
	case RuntimeProvider:
		kinds = runtimeKinds[:]
	case RundownProvider:
		kinds = rundownKinds[:]
	case PrivateProvider:
		kinds = privateKinds[:]
	case EventPipeProvider:
		kinds = eventPipeKinds[:]
	}
	if uint64(id) >= uint64(len(kinds)) {
		return KindUnknown
	}
	return kinds[id]
}

// String is the event's name without a version, or "" for KindUnknown. Events
// of two providers may have one name.
func (k Kind) String() string {
	if k >= numKinds {
		return ""
	}
	return schemas[k].name
}

// Opcode is the event's opcode in the manifest, 0 where it has none. EventPipe
// traces do not tell the opcodes of the runtime's own events.
func (k Kind) Opcode() uint8 {
	if k >= numKinds {
		return 0
	}
	return schemas[k].opcode
}

// DynamicKindOf is the kind of event that a GCDynamicEvent of this name
// carries, or DynamicUnknown.
func DynamicKindOf(name UTF16) DynamicKind {
	for k := range dynamicSchemas {
		if DynamicKind(k) != DynamicUnknown && name.Equal(dynamicSchemas[k].name) {
			return DynamicKind(k)
		}
	}
	return DynamicUnknown
}

// ProviderByGUID is the name of a provider that raises the runtime's events.
func ProviderByGUID(g GUID) (string, bool) {
	for _, p := range providers {
		if p.guid == g {
			return p.name, true
		}
	}
	return "", false
}

// TimeNames are the phases that the values of a GCGlobalHeapHistory stand for,
// in their order. Their number tells what kind of collection it was: 5 of a
// background one, 7 of one that swept, 8 of one that compacted; for any other
// number the result is nil.
// The caller must not change it.
func TimeNames(count int) []string {
	for _, names := range timeNames {
		if len(names) == count {
			return names
		}
	}
	return nil
}
