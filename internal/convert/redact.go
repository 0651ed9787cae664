package convert

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// RedactOptions select the names to keep.
type RedactOptions struct {
	// KeepSystem keeps names that begin with System. or Microsoft. and belong to
	// modules of the framework, as far as the trace shows.
	KeepSystem bool
}

// A Redactor removes everything from the events of one trace that identifies a program, so that
// the trace can be published: names, paths and texts become hashes, ids of the runtime other
// numbers, and code addresses places of equal size. Data that the runtime does not define is
// left out.
//
// Hashes and numbers depend on a random key that is stored nowhere: within one trace the same
// name has the same hash, and nobody can compare it with hashes of known names. The numbers that
// would lead back to the public files of the framework are replaced too. The table in
// docs/convert.md is generated from the one in this package.
type Redactor struct {
	hashes hashes
	ids    permutation
	code   codeMap
	system *system             // nil unless names of the framework are kept
	steps  map[clr.Kind][]step // nil for kinds whose events are left out
	descs  map[*trace.Descriptor]*trace.Descriptor
}

// NewRedactor returns a Redactor with a random key.
func NewRedactor(o RedactOptions) *Redactor {
	var keys [2][32]byte
	for i := range keys {
		_, _ = rand.Read(keys[i][:]) // which never fails
	}
	r := Redactor{hashes: hashes{key: keys[0], known: make(map[string]string)}, ids: newPermutation(keys[1][:])}
	if o.KeepSystem {
		r.system = newSystem()
	}
	return r.Another()
}

// Another returns a Redactor for the events of another trace, which has the same hash for the
// same name.
func (r *Redactor) Another() *Redactor {
	other := &Redactor{
		hashes: r.hashes, ids: r.ids, code: newCodeMap(), steps: make(map[clr.Kind][]step), descs: make(map[*trace.Descriptor]*trace.Descriptor),
	}
	if r.system != nil {
		other.system = newSystem()
	}
	return other
}

// Learn reads an event ahead. Feed it all events of the trace in order, from an earlier
// reading, before any event is redacted: a trace lists its methods and modules at the end.
// Otherwise the result has no names for the frames of stacks, and none of the framework.
func (r *Redactor) Learn(ev *trace.Event) {
	r.code.table.Feed(ev)
	if r.system != nil {
		r.system.learn(ev)
	}
}

// maxHashed bounds the strings whose hashes are remembered, and maxLength their length.
const (
	maxHashed = 1 << 15
	maxLength = 512
)

// hashes are keyed hashes of strings.
type hashes struct {
	key   [32]byte
	known map[string]string
}

func (h *hashes) of(s string) string {
	if s == "" {
		return ""
	}
	hash, known := h.known[s]
	if !known {
		mac := hmac.New(sha256.New, h.key[:])
		mac.Write([]byte(s))
		hash = "x" + hex.EncodeToString(mac.Sum(nil)[:6])
		if len(h.known) == maxHashed {
			clear(h.known)
		}
		if len(s) <= maxLength {
			h.known[s] = hash
		}
	}
	return hash
}

// Name returns the hash of a text.
func (r *Redactor) Name(s string) string { return r.hashes.of(s) }

// The only event of SampleProvider. Its payload is a number for the thread's activity.
const (
	sampleEvent = 0 // its id
	sampleSize  = 4 // of its payload, in bytes
	maxSample   = 2 // the largest number that the runtime writes
)

func isSample(d *trace.Descriptor) bool {
	return d.Provider == clr.SampleProvider && d.ID == sampleEvent
}

// Descriptor returns the kind of event that is written for one of the source, nil if its
// events are left out. It has nothing but what the runtime defines: no names and no
// fields that only the trace gives.
func (r *Redactor) Descriptor(d *trace.Descriptor) *trace.Descriptor {
	out, known := r.descs[d]
	if !known {
		out = r.describe(d)
		r.descs[d] = out
	}
	return out
}

func (r *Redactor) describe(d *trace.Descriptor) *trace.Descriptor {
	if isSample(d) {
		return &trace.Descriptor{Provider: clr.SampleProvider, ID: sampleEvent, Level: d.Level}
	}
	kind := clr.KindOf(d.Provider, d.ID)
	if kind == clr.KindUnknown || r.stepsFor(kind) == nil {
		return nil
	}
	version := slices.Max(slices.Collect(kind.Versions()))
	out := &trace.Descriptor{
		Provider: kind.Provider(), ID: kind.ID(), Version: min(version, d.Version),
		Opcode: d.Opcode, Level: d.Level, Keywords: d.Keywords,
	}
	if kind.Provider() == clr.EventPipeProvider || kind.Provider() == clr.GctrailProvider {
		out.Name, out.Fields = kind.String(), kind.Fields(out.Version)
	}
	return out
}

// Sample appends the payload of one of the runtime's samples of threads, for which package
// clr has no struct. It returns false for any other event.
func (r *Redactor) Sample(dst []byte, ev *trace.Event) ([]byte, bool) {
	if !isSample(ev.Desc) || len(ev.Payload) != sampleSize || cmp.Or(ev.Payload[1:]...) != 0 || ev.Payload[0] > maxSample {
		return dst, false
	}
	return append(dst, ev.Payload...), true
}
