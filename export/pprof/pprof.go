// Package pprof writes allocations as a profile for go tool pprof: the sample
// types alloc_objects and alloc_space, with the labels type, heap and process.
//
// See github.com/google/pprof/proto/profile.proto.
package pprof

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/symbol"
)

// Write writes the allocations of some processes as one gzipped profile. start
// and length are the time that the allocations cover.
func Write(w io.Writer, processes []*export.Allocations, start time.Time, length time.Duration) error {
	b := builder{
		profile: &profile.Profile{
			SampleType:        []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}},
			DefaultSampleType: "alloc_space",
			TimeNanos:         start.UnixNano(),
			DurationNanos:     length.Nanoseconds(),
		},
		functions: make(map[string]*profile.Function),
		mappings:  make(map[string]*profile.Mapping),
		locations: make(map[symbol.Frame]*profile.Location),
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
	profile   *profile.Profile
	functions map[string]*profile.Function
	mappings  map[string]*profile.Mapping
	locations map[symbol.Frame]*profile.Location
}

func (b *builder) add(a *export.Allocations) {
	process := export.Name(a.Process)
	for i := range a.Rows {
		r := &a.Rows[i]
		s := &profile.Sample{
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

func (b *builder) location(f symbol.Frame) *profile.Location {
	l := b.locations[f]
	if l == nil {
		l = &profile.Location{
			ID:      uint64(len(b.profile.Location) + 1),
			Address: f.Address,
			Mapping: b.mapping(f.Module),
			Line:    []profile.Line{{Function: b.function(export.Clean(f.String()))}},
		}
		b.locations[f] = l
		b.profile.Location = append(b.profile.Location, l)
	}
	return l
}

func (b *builder) function(name string) *profile.Function {
	f := b.functions[name]
	if f == nil {
		f = &profile.Function{ID: uint64(len(b.profile.Function) + 1), Name: name, SystemName: name}
		b.functions[name] = f
		b.profile.Function = append(b.profile.Function, f)
	}
	return f
}

// mapping returns a module. Where it was mapped is not known, so that it bounds
// no addresses; names are there already.
func (b *builder) mapping(module string) *profile.Mapping {
	m := b.mappings[module]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(b.profile.Mapping) + 1), File: export.Clean(module), HasFunctions: true}
		b.mappings[module] = m
		b.profile.Mapping = append(b.profile.Mapping, m)
	}
	return m
}
