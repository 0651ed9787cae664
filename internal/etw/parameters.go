package etw

// Types of filters (evntprov.h), and limits of their contents.
const (
	filterPID      = 0x80000004
	filterEventID  = 0x80000200
	MaxPIDs        = 8
	MaxEventIDs    = 64
	propertyStacks = 0x00000004 // EVENT_ENABLE_PROPERTY_STACK_TRACE
)

const (
	sizeParameters       = 48 // ENABLE_TRACE_PARAMETERS
	sizeFilterDescriptor = 16 // EVENT_FILTER_DESCRIPTOR
	parametersVersion    = 2  // since Windows 8.1, with several filters
	offFilters           = 0x20
)

// Parameters are the parameters of EnableTraceEx2.
type Parameters struct {
	Property uint32
	Filters  []Filter
}

// A Filter limits the events of a provider.
type Filter struct {
	Type uint32
	Data []byte
}

// Bytes returns an ENABLE_TRACE_PARAMETERS of 64-bit Windows, whose filters are at an
// address.
func (p *Parameters) Bytes(filters uint64) []byte {
	b := make([]byte, sizeParameters)
	le.PutUint32(b, parametersVersion)
	le.PutUint32(b[4:], p.Property)
	if len(p.Filters) > 0 {
		le.PutUint64(b[offFilters:], filters)
		le.PutUint32(b[offFilters+8:], uint32(len(p.Filters)))
	}
	return b
}

// Descriptor returns an EVENT_FILTER_DESCRIPTOR of the filter, whose data is at an
// address.
func (f *Filter) Descriptor(data uint64) []byte {
	b := make([]byte, sizeFilterDescriptor)
	le.PutUint64(b, data)
	le.PutUint32(b[8:], uint32(len(f.Data)))
	le.PutUint32(b[12:], f.Type)
	return b
}

// onlyPIDs lets only events of these processes pass.
func onlyPIDs(pids []int) Filter {
	var data []byte
	for _, pid := range pids {
		data = le.AppendUint32(data, uint32(pid))
	}
	return Filter{filterPID, data}
}

// onlyEvents returns an EVENT_FILTER_EVENT_ID with the events that pass or, if except is
// set, that do not.
func onlyEvents(ids []uint32, except bool) Filter {
	in := byte(1)
	if except {
		in = 0
	}
	data := le.AppendUint16([]byte{in, 0}, uint16(len(ids)))
	for _, id := range ids {
		data = le.AppendUint16(data, uint16(id)) // all that ids of ETW have
	}
	return Filter{filterEventID, data}
}
