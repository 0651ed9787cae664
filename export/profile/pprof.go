package profile

import (
	"compress/gzip"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/symbol"
)

// WritePprof writes a profile gzipped for go tool pprof, with the labels of samples and the
// label process. start and length are the time that it covers, start is zero if unknown. See
// github.com/google/pprof/proto/profile.proto.
func WritePprof(w io.Writer, p Profile, start time.Time, length time.Duration) error {
	e := newEncoder()
	for _, of := range p.Processes {
		process := export.Name(of.Process)
		for s := range of.Samples {
			e.sample(s, slices.Values(s.Stack), e.labels(process, s.Labels))
		}
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(e.profile(p, start, length, false)); err != nil {
		return err
	}
	return z.Close()
}

// WritePushed writes a profile, not gzipped, for a server that stores one series for each value of a
// label, as Pyroscope does: samples have no labels, but their Leaf as the innermost frame, and
// places in one method are one.
func WritePushed(w io.Writer, p Profile, start time.Time, length time.Duration) error {
	e := newEncoder()
	for _, of := range p.Processes {
		for s := range of.Samples {
			e.sample(s, s.Typed(), nil)
		}
	}
	_, err := w.Write(e.profile(p, start, length, true))
	return err
}

// Numbers of fields.
const (
	profileSampleType, profileSample, profileMapping, profileLocation, profileFunction, profileText = 1, 2, 3, 4, 5, 6 // of Profile
	profileTime, profileDuration, profilePeriodType, profileDefault                                 = 9, 10, 11, 14

	valueType, valueUnit                           = 1, 2 // of ValueType
	samplePlaces, sampleValues, sampleLabel        = 1, 2, 3
	labelKey, labelText                            = 1, 2
	mappingID, mappingFile, mappingHasFunctions    = 1, 5, 7
	placeID, placeMapping, placeAddress, placeLine = 1, 2, 3, 4 // of Location
	lineFunction                                   = 1
	functionID, functionName, functionSystemName   = 1, 2, 3
)

// An encoder gives each text, module, method and place in the code its number, and encodes what has
// one at once.
type encoder struct {
	samples, mappings, places, methods message // of a Profile

	texts   []string
	textIDs map[string]uint64
	modules map[string]uint64
	named   map[string]uint64 // methods
	placed  map[symbol.Frame]uint64
	stack   []uint64 // of a sample
}

func newEncoder() *encoder {
	e := &encoder{textIDs: make(map[string]uint64), modules: make(map[string]uint64), named: make(map[string]uint64), placed: make(map[symbol.Frame]uint64)}
	e.text("") // is number 0
	return e
}

// profile returns the profile of all samples so far. Servers want its period's type, which a trace
// does not have.
func (e *encoder) profile(p Profile, start time.Time, length time.Duration, period bool) []byte {
	var m message
	space := e.value(p.Space, "bytes")
	m.bytes(profileSampleType, e.value(p.Objects, "count"))
	m.bytes(profileSampleType, space)
	if !start.IsZero() {
		m.number(profileTime, uint64(start.UnixNano()))
	}
	m.number(profileDuration, uint64(length.Nanoseconds()))
	if period {
		m.bytes(profilePeriodType, e.value("space", "bytes"))
	}
	m.number(profileDefault, e.text(p.Space))
	for _, part := range []message{e.samples, e.mappings, e.places, e.methods} {
		m = append(m, part...)
	}
	for _, s := range e.texts {
		m.bytes(profileText, []byte(s))
	}
	return m
}

func (e *encoder) value(name, unit string) (m message) {
	m.number(valueType, e.text(name))
	m.number(valueUnit, e.text(unit))
	return m
}

// sample encodes a sample at some places, innermost first.
func (e *encoder) sample(s *Sample, frames iter.Seq[symbol.Frame], labels message) {
	e.stack = e.stack[:0]
	for f := range frames {
		e.stack = append(e.stack, e.place(f))
	}
	var m message
	m.packed(samplePlaces, e.stack...)
	m.packed(sampleValues, uint64(s.Objects), uint64(s.Bytes))
	e.samples.bytes(profileSample, append(m, labels...))
}

// labels returns the labels of a sample, and the name of its process.
func (e *encoder) labels(process string, of map[string][]string) (m message) {
	add := func(key, value string) {
		var label message
		label.number(labelKey, e.text(key))
		label.number(labelText, e.text(value))
		m.bytes(sampleLabel, label)
	}
	add("process", process)
	for _, key := range slices.Sorted(maps.Keys(of)) {
		for _, value := range of[key] {
			add(key, value)
		}
	}
	return m
}

func (e *encoder) text(s string) uint64 {
	return number(e.textIDs, s, func(uint64) { e.texts = append(e.texts, s) }) - 1
}

func (e *encoder) place(f symbol.Frame) uint64 {
	return number(e.placed, f, func(id uint64) {
		var line, m message
		line.number(lineFunction, e.method(export.Clean(f.String())))
		m.number(placeID, id)
		m.number(placeMapping, e.module(f.Module))
		m.number(placeAddress, f.Address)
		m.bytes(placeLine, line)
		e.places.bytes(profileLocation, m)
	})
}

func (e *encoder) method(name string) uint64 {
	return number(e.named, name, func(id uint64) {
		var m message
		m.number(functionID, id)
		m.number(functionName, e.text(name))
		m.number(functionSystemName, e.text(name))
		e.methods.bytes(profileFunction, m)
	})
}

// module returns the number of a module. Where it was mapped is not known, so that it bounds no
// addresses; names are there already.
func (e *encoder) module(name string) uint64 {
	return number(e.modules, name, func(id uint64) {
		var m message
		m.number(mappingID, id)
		m.number(mappingFile, e.text(export.Clean(name)))
		m.number(mappingHasFunctions, 1)
		e.mappings.bytes(profileMapping, m)
	})
}

// number returns the number of a key, from 1 on. A key without one gets the next, for which add is
// called.
func number[K comparable, N int | uint64](of map[K]N, key K, add func(N)) N {
	n, is := of[key]
	if !is {
		n = N(len(of) + 1)
		of[key] = n
		add(n)
	}
	return n
}

// A message is an encoded message of protobuf. Zeros are left out.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) number(field protowire.Number, n uint64) {
	if n != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), n)
	}
}

// packed appends the numbers of a repeated field.
func (m *message) packed(field protowire.Number, numbers ...uint64) {
	n := 0
	for _, v := range numbers {
		n += protowire.SizeVarint(v)
	}
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.BytesType), uint64(n))
	for _, v := range numbers {
		*m = protowire.AppendVarint(*m, v)
	}
}
