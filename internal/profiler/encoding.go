package profiler

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/export/profile"
)

// An encoding is how a receiver takes profiles.
type encoding struct {
	path, media string
	encode      func(of *Subject, p profile.Profile, start time.Time, length time.Duration) ([]byte, error)
}

const (
	toPyroscope = iota
	toOTLP
)

var encodings = [...]encoding{
	toPyroscope: {"/push.v1.PusherService/Push", "application/proto", pushRequest},
	toOTLP:      {"/v1development/profiles", "", profilesData},
}

// profileName is the name of Pyroscope's profiles of memory: the types of profiles are
// memory:alloc_space:bytes:space:bytes and memory:alloc_objects:count:space:bytes, as those of
// Go programs.
const profileName = "memory"

// pushRequest encodes a PushRequest of Pyroscope: see api/push/v1/push.proto there. It has one
// series, whose only sample is a profile of pprof. It is not gzipped, because the request is;
// Pyroscope takes both (openBytes in pkg/pprof/pprof.go).
func pushRequest(of *Subject, p profile.Profile, start time.Time, length time.Duration) ([]byte, error) {
	const (
		series      = 1 // of PushRequest
		labels      = 1 // of RawProfileSeries
		samples     = 2
		name, value = 1, 2 // of LabelPair
		rawProfile  = 1    // of RawSample
		id          = 2
	)
	var raw bytes.Buffer
	if err := profile.WritePushed(&raw, p, start, length); err != nil {
		return nil, err
	}
	var s message
	for _, l := range append([]Label{{"__name__", profileName}, {"service_name", of.Service}}, of.Labels...) {
		var pair message
		pair.text(name, l.Name)
		pair.text(value, l.Value)
		s.bytes(labels, pair)
	}
	var sample message
	sample.bytes(rawProfile, raw.Bytes())
	sample.text(id, uuid())
	s.bytes(samples, sample)
	var request message
	request.bytes(series, s)
	return request, nil
}

// uuid returns a random UUID.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// A message is an encoded message of protobuf. Zero values are left out.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) {
	if s != "" {
		*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
	}
}

func (m *message) number(field protowire.Number, n int64) {
	if n != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(n))
	}
}

func (m *message) fixed(field protowire.Number, n uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), n)
}

// packed appends numbers of a repeated field.
func (m *message) packed(field protowire.Number, numbers ...int64) {
	var all []byte
	for _, n := range numbers {
		all = protowire.AppendVarint(all, uint64(n))
	}
	m.bytes(field, all)
}
