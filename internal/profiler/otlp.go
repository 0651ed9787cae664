package profiler

import (
	"crypto/rand"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/symbol"
)

// Fields of the messages of opentelemetry/proto/profiles/v1development/profiles.proto, as of
// version 1.9 of the protocol.
const (
	fieldResourceProfiles = 1 // of ProfilesData
	fieldDictionary       = 2

	fieldResource      = 1 // of ResourceProfiles
	fieldScopeProfiles = 2
	fieldScope         = 1 // of ScopeProfiles
	fieldProfiles      = 2
	fieldScopeName     = 1 // of InstrumentationScope

	fieldSampleType = 1 // of Profile
	fieldSamples    = 2
	fieldTime       = 3
	fieldDuration   = 4
	fieldProfileID  = 7
	fieldType       = 1 // of ValueType
	fieldUnit       = 2
	fieldStack      = 1 // of Sample
	fieldValues     = 4

	fieldMapping    = 1 // of Location
	fieldLines      = 3
	fieldFunction   = 1 // of Line
	fieldName       = 1 // of Function
	fieldSystemName = 2
	fieldFile       = 4 // of Mapping
	fieldLocations  = 1 // of Stack
)

// The tables of ProfilesDictionary, by their fields.
const (
	mappings   = 1
	locations  = 2
	functions  = 3
	links      = 4
	texts      = 5
	attributes = 6
	stacks     = 7
	numTables  = 8
)

// A dictionary has the tables to which profiles refer by index. Entry 0 of each table is empty.
type dictionary struct {
	tables    [numTables][]message
	indices   [numTables]map[string]int64
	locations map[symbol.Frame]int64
}

func newDictionary() *dictionary {
	d := &dictionary{locations: make(map[symbol.Frame]int64)}
	for table := mappings; table < numTables; table++ {
		d.indices[table] = map[string]int64{"": 0}
		d.tables[table] = []message{nil}
	}
	return d
}

// add returns the index of an entry.
func (d *dictionary) add(table int, entry message) int64 {
	i, known := d.indices[table][string(entry)]
	if !known {
		i = int64(len(d.tables[table]))
		d.indices[table][string(entry)] = i
		d.tables[table] = append(d.tables[table], entry)
	}
	return i
}

func (d *dictionary) text(s string) int64 { return d.add(texts, message(s)) }

// location returns the index of a frame.
func (d *dictionary) location(f symbol.Frame) int64 {
	i, known := d.locations[f]
	if known {
		return i
	}
	var function, line, mapping, location message
	function.number(fieldName, d.text(f.Method))
	function.number(fieldSystemName, d.text(f.Method))
	line.number(fieldFunction, d.add(functions, function))
	mapping.number(fieldFile, d.text(f.Module))
	location.number(fieldMapping, d.add(mappings, mapping))
	location.bytes(fieldLines, line)
	i = d.add(locations, location)
	d.locations[f] = i
	return i
}

func (d *dictionary) stack(s *profile.Sample) int64 {
	var all []int64
	for f := range s.Typed() {
		all = append(all, d.location(f))
	}
	var stack message
	stack.packed(fieldLocations, all...)
	return d.add(stacks, stack)
}

// encode returns the ProfilesDictionary.
func (d *dictionary) encode() (m message) {
	for table := mappings; table < numTables; table++ {
		for _, entry := range d.tables[table] {
			m.bytes(protowire.Number(table), entry)
		}
	}
	return m
}

// profilesData encodes a ProfilesData, which has the wire form of the request. Each kind of
// values is a profile.
func profilesData(of *Subject, p profile.Profile, start time.Time, length time.Duration) ([]byte, error) {
	resource, err := proto.Marshal(otlp.NewResource(of.Attributes))
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	d := newDictionary()
	space, objects := d.profile(p.Space, "bytes", start, length), d.profile(p.Objects, "count", start, length)
	for _, process := range p.Processes {
		for s := range process.Samples {
			stack := d.stack(s)
			space.sample(stack, s.Bytes)
			objects.sample(stack, s.Objects)
		}
	}
	var scope, scoped, resourced, data message
	scope.text(fieldScopeName, "gctrail")
	scoped.bytes(fieldScope, scope)
	scoped.bytes(fieldProfiles, space)
	scoped.bytes(fieldProfiles, objects)
	resourced.bytes(fieldResource, resource)
	resourced.bytes(fieldScopeProfiles, scoped)
	data.bytes(fieldResourceProfiles, resourced)
	data.bytes(fieldDictionary, d.encode())
	return data, nil
}

// profile returns a Profile without samples.
func (d *dictionary) profile(typ, unit string, start time.Time, length time.Duration) (m message) {
	var of message
	of.number(fieldType, d.text(typ))
	of.number(fieldUnit, d.text(unit))
	m.bytes(fieldSampleType, of)
	m.fixed(fieldTime, uint64(start.UnixNano()))
	m.number(fieldDuration, length.Nanoseconds())
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	m.bytes(fieldProfileID, id)
	return m
}

// sample adds a sample to a Profile.
func (m *message) sample(stack, value int64) {
	if value == 0 {
		return
	}
	var s message
	s.number(fieldStack, stack)
	s.packed(fieldValues, value)
	m.bytes(fieldSamples, s)
}
