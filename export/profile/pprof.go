package profile

import (
	"cmp"
	"fmt"
	"io"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/symbol"
)

// WritePprof writes the allocations of some processes as one gzipped profile for go tool
// pprof: the sample types alloc_objects and alloc_space, with the labels type, heap and
// process. start and length are the time that the allocations cover. See
// github.com/google/pprof/proto/profile.proto.
func WritePprof(w io.Writer, processes []*export.Allocations, start time.Time, length time.Duration) error {
	b := builder{
		profile: &pprof.Profile{
			SampleType:        []*pprof.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}},
			DefaultSampleType: "alloc_space",
			TimeNanos:         start.UnixNano(),
			DurationNanos:     length.Nanoseconds(),
		},
		functions: make(map[string]*pprof.Function),
		mappings:  make(map[string]*pprof.Mapping),
		locations: make(map[symbol.Frame]*pprof.Location),
	}
	for _, a := range processes {
		b.add(a)
	}
	if err := b.profile.CheckValid(); err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	return b.profile.Write(w)
}

// A builder gives each function, module and place in the code its number.
type builder struct {
	profile   *pprof.Profile
	functions map[string]*pprof.Function
	mappings  map[string]*pprof.Mapping
	locations map[symbol.Frame]*pprof.Location
}

func (b *builder) add(a *export.Allocations) {
	process := export.Name(a.Process)
	for i := range a.Rows {
		r := &a.Rows[i]
		s := &pprof.Sample{
			Value: []int64{r.Objects, r.Bytes},
			Label: map[string][]string{"type": {export.Clean(cmp.Or(r.Type, "(unknown)"))}, "process": {process}},
		}
		if heap := r.Heap.String(); heap != "" {
			s.Label["heap"] = []string{heap}
		}
		for f := range a.Frames(r) {
			s.Location = append(s.Location, b.location(f))
		}
		b.profile.Sample = append(b.profile.Sample, s)
	}
}

func (b *builder) location(f symbol.Frame) *pprof.Location {
	l := b.locations[f]
	if l == nil {
		l = &pprof.Location{
			ID:      uint64(len(b.profile.Location) + 1),
			Address: f.Address,
			Mapping: b.mapping(f.Module),
			Line:    []pprof.Line{{Function: b.function(export.Clean(f.String()))}},
		}
		b.locations[f] = l
		b.profile.Location = append(b.profile.Location, l)
	}
	return l
}

func (b *builder) function(name string) *pprof.Function {
	f := b.functions[name]
	if f == nil {
		f = &pprof.Function{ID: uint64(len(b.profile.Function) + 1), Name: name, SystemName: name}
		b.functions[name] = f
		b.profile.Function = append(b.profile.Function, f)
	}
	return f
}

// mapping returns a module. Where it was mapped is not known, so that it bounds
// no addresses; names are there already.
func (b *builder) mapping(module string) *pprof.Mapping {
	m := b.mappings[module]
	if m == nil {
		m = &pprof.Mapping{ID: uint64(len(b.profile.Mapping) + 1), File: export.Clean(module), HasFunctions: true}
		b.mappings[module] = m
		b.profile.Mapping = append(b.profile.Mapping, m)
	}
	return m
}
