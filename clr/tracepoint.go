package clr

import (
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// tracepointProvider is the part of the providers' names that is missing in LTTng's
// names.
const tracepointProvider = "Microsoft-Windows-"

// Tracepoint returns the event of an LTTng tracepoint of the runtime, such as version 2
// of GCStart for "DotNETRuntime:GCStart_V2". The result is false if the package's table
// lacks the event or that version; the descriptor then has the provider, name and version
// if it is one of the runtime's events, else it is zero.
//
// Arrays of structures are bytes without a description in such a trace; see
// Descriptor.RawStructs.
//
// A tracepoint's name is the manifest's with the version after it (genLttngProvider.py).
func Tracepoint(name string) (trace.Descriptor, bool) {
	provider, event, ok := strings.Cut(name, ":")
	if !ok || !strings.HasPrefix(provider, "DotNETRuntime") {
		return trace.Descriptor{}, false
	}
	event, version := splitVersion(event)
	d := trace.Descriptor{Provider: tracepointProvider + provider, Name: event, Version: version, RawStructs: true}
	k, ok := tracepoints[provider+":"+event]
	if !ok || !schemas[k].has(version) {
		return d, false
	}
	d.ID, d.Level, d.Keywords, d.Opcode = k.ID(), k.Level(), k.Keywords(), k.Opcode()
	return d, true
}

// splitVersion splits the version off a name such as "GCStart_V2".
func splitVersion(name string) (string, uint32) {
	i := strings.LastIndex(name, "_V")
	if i < 0 {
		return name, 0
	}
	version, err := strconv.ParseUint(name[i+2:], 10, 8)
	if err != nil {
		return name, 0
	}
	return name[:i], uint32(version)
}

// has reports whether a version of the event, or an older one, is known.
func (s *schema) has(version uint32) bool { return s.layouts[0].version <= version }
