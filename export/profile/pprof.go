package profile

import (
	"fmt"
	"io"
	"maps"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/symbol"
)

// WritePprof writes a profile gzipped for go tool pprof, with the labels of samples and the
// label process. start and length are the time that it covers, start is zero if unknown. See
// github.com/google/pprof/proto/profile.proto.
func WritePprof(w io.Writer, p Profile, start time.Time, length time.Duration) error {
	b := newBuilder(p, start, length)
	for _, of := range p.Processes {
		b.add(of)
	}
	return b.write(w)
}

// WritePushed writes a profile, not gzipped, for a server that stores one series for each value of a
// label, as Pyroscope does: samples have no labels, but their Leaf as the innermost frame, and
// places in one method are one.
func WritePushed(w io.Writer, p Profile, start time.Time, length time.Duration) error {
	b := newBuilder(p, start, length)
	b.profile.PeriodType = &pprof.ValueType{Type: "space", Unit: "bytes"}
	for _, of := range p.Processes {
		for s := range of.Samples {
			sample := &pprof.Sample{Value: []int64{s.Objects, s.Bytes}}
			for f := range s.Typed() {
				sample.Location = append(sample.Location, b.location(f))
			}
			b.profile.Sample = append(b.profile.Sample, sample)
		}
	}
	if err := b.check(); err != nil {
		return err
	}
	return b.profile.WriteUncompressed(w)
}

func newBuilder(p Profile, start time.Time, length time.Duration) *builder {
	b := &builder{
		profile: &pprof.Profile{
			SampleType:        []*pprof.ValueType{{Type: p.Objects, Unit: "count"}, {Type: p.Space, Unit: "bytes"}},
			DefaultSampleType: p.Space,
			DurationNanos:     length.Nanoseconds(),
		},
		functions: make(map[string]*pprof.Function),
		mappings:  make(map[string]*pprof.Mapping),
		locations: make(map[symbol.Frame]*pprof.Location),
	}
	if !start.IsZero() {
		b.profile.TimeNanos = start.UnixNano()
	}
	return b
}

func (b *builder) write(w io.Writer) error {
	if err := b.check(); err != nil {
		return err
	}
	return b.profile.Write(w)
}

func (b *builder) check() error {
	if err := b.profile.CheckValid(); err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	return nil
}

// A builder gives each function, module and place in the code its number.
type builder struct {
	profile   *pprof.Profile
	functions map[string]*pprof.Function
	mappings  map[string]*pprof.Mapping
	locations map[symbol.Frame]*pprof.Location
}

func (b *builder) add(of Process) {
	process := []string{export.Name(of.Process)}
	for s := range of.Samples {
		sample := &pprof.Sample{Value: []int64{s.Objects, s.Bytes}, Label: map[string][]string{"process": process}}
		maps.Copy(sample.Label, s.Labels)
		for _, f := range s.Stack {
			sample.Location = append(sample.Location, b.location(f))
		}
		b.profile.Sample = append(b.profile.Sample, sample)
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
