package request

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// Provider is the provider of the events of activities.
const Provider = "Microsoft-Diagnostics-DiagnosticSource"

// A step is the start or the stop of an activity.
type step uint8

const (
	neither step = iota
	start
	stop
	either // by the name of what it reports
)

// steps are the events of activities. See the methods of DiagnosticSourceEventSource.
var steps = map[string]step{
	"ActivityStart": start, "ActivityStop": stop, // of an ActivitySource
	"Activity1Start": start, "Activity1Stop": stop, "Activity2Start": start, "Activity2Stop": stop, // of a DiagnosticListener, as the filter names them
	"RecursiveActivity1Start": start, "RecursiveActivity1Stop": stop, "RecursiveActivity2Start": start, "RecursiveActivity2Stop": stop,
	"RecursiveActivity3Start": start, "RecursiveActivity3Stop": stop,
	"Event": either,
}

// HostingProvider is ASP.NET Core's own provider of the events of requests. They have the method
// and the path of a request, and instead of ids of a trace one that only its events have.
const HostingProvider = "Microsoft.AspNetCore.Hosting"

var hostingSteps = map[string]step{"RequestStart": start, "RequestStop": stop}

// The source, the name and the kind of a span of HostingProvider.
var hostingSource, hostingName, hostingKind = clr.AppendUTF16(nil, HostingProvider), clr.AppendUTF16(nil, "Request"), clr.AppendUTF16(nil, "Server")

// Wants reports whether a Model reads events of a kind as activities.
func Wants(d *trace.Descriptor) bool {
	return d.Provider == Provider && steps[d.Name] != neither || d.Provider == HostingProvider && hostingSteps[d.Name] != neither
}

// An activity is an event of one. Its texts share the payload's memory.
type activity struct {
	step          step
	trace         TraceID
	span, parent  SpanID
	source, name  clr.UTF16
	kind, display clr.UTF16
	method, path  clr.UTF16 // of a request over HTTP
	hosting       [16]byte  // the id of a request of HostingProvider
}

// key returns the identity that the start and the stop of an activity share.
func (a *activity) key(pid uint64) spanKey {
	if a.hosting != [16]byte{} {
		return spanKey{pid: pid, trace: a.hosting} // no other key lacks the id of a span
	}
	return spanKey{pid, a.trace, a.span}
}

// The suffixes of the names of a DiagnosticListener's events.
const startSuffix, stopSuffix = ".Start", ".Stop"

// Filter is the argument FilterAndPayloadSpecs of Provider for the events that a Model reads: the
// start and the stop of all activities, and the path of the URL that a request of ASP.NET Core is
// for, which its activity does not have. Propagate makes the runtime create an activity without
// marking it as recorded, so that programs further along do not record it either.
const Filter = "[AS]*/-Propagate:-TraceId;SpanId;ParentSpanId;Kind;DisplayName\n" +
	"Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn.Start@Activity1Start:-TraceId=*Activity.TraceId;SpanId=*Activity.SpanId;Method=Request.Method;Path=Request.Path"

// KeywordEvents is the keyword of Provider for the events of activities.
const KeywordEvents = 0x2

// decode decodes an event of an activity. It reports whether the activity has an id, by which
// its start and its stop are matched.
//
// A payload consists of the name of the source, the name of the activity, or of the event of a
// listener, and an array of names and values that the filter asked for.
func (a *activity) decode(ev *trace.Event) bool {
	*a = activity{step: steps[ev.Desc.Name]}
	if ev.Desc.Provider == HostingProvider {
		return a.decodeHosting(ev)
	}
	rest := ev.Payload
	var whole [2]bool
	a.source, rest, whole[0] = cutText(rest)
	a.name, rest, whole[1] = cutText(rest)
	if !whole[0] || !whole[1] || len(rest) < 2 {
		return false
	}
	switch suffix := a.name.String(); {
	case strings.HasSuffix(suffix, startSuffix):
		a.name = a.name[:len(a.name)-2*len(startSuffix)]
		if a.step == either {
			a.step = start
		}
	case strings.HasSuffix(suffix, stopSuffix):
		a.name = a.name[:len(a.name)-2*len(stopSuffix)]
		if a.step == either {
			a.step = stop
		}
	}
	count := binary.LittleEndian.Uint16(rest)
	rest = rest[2:]
	for range count {
		var key, value clr.UTF16
		key, rest, whole[0] = cutText(rest)
		value, rest, whole[1] = cutText(rest)
		if !whole[0] || !whole[1] {
			break
		}
		a.argument(key, value)
	}
	return a.step != either && a.span != SpanID{}
}

// decodeHosting decodes an event of HostingProvider. The start has the method and the path.
func (a *activity) decodeHosting(ev *trace.Event) bool {
	a.step = hostingSteps[ev.Desc.Name]
	if ev.Labels == nil || ev.Labels.ActivityID == [16]byte{} {
		return false
	}
	a.hosting, a.source, a.name, a.kind = ev.Labels.ActivityID, hostingSource, hostingName, hostingKind
	if a.step == start {
		var rest []byte
		a.method, rest, _ = cutText(ev.Payload)
		a.path, _, _ = cutText(rest)
	}
	return true
}

// argument takes a value that the filter asked for, under the name that it gives it.
func (a *activity) argument(key, value clr.UTF16) {
	switch key.String() {
	case "TraceId":
		decodeHex(a.trace[:], value)
	case "SpanId":
		decodeHex(a.span[:], value)
	case "ParentSpanId":
		decodeHex(a.parent[:], value)
	case "Id", "ActivityId": // 00-TRACE-SPAN-FLAGS
		decodeContext(&a.trace, &a.span, value)
	case "ParentId":
		decodeContext(new(TraceID), &a.parent, value)
	case "Kind":
		a.kind = value
	case "DisplayName":
		a.display = value
	case "Method":
		a.method = value
	case "Path":
		a.path = value
	}
}

// route appends the method and the path of an HTTP request, or else the display name. It
// appends nothing if that is only the name of the operation.
func (a *activity) route(dst clr.UTF16) clr.UTF16 {
	switch {
	case len(a.path) > 0 && len(a.method) > 0:
		return append(append(append(dst, a.method...), ' ', 0), a.path...)
	case len(a.path) > 0:
		return append(dst, a.path...)
	case string(a.display) != string(a.name):
		return append(dst, a.display...)
	}
	return dst
}

// decodeContext decodes an id of W3C's Trace Context, in its only form so far.
func decodeContext(in *TraceID, span *SpanID, value clr.UTF16) {
	const traceAt, spanAt, flagsAt = 2 * 3, 2 * 36, 2 * 53
	if len(value) > flagsAt && in.isZero() && *span == (SpanID{}) {
		decodeHex(in[:], value[traceAt:spanAt-2])
		decodeHex(span[:], value[spanAt:flagsAt-2])
	}
}

// decodeHex decodes hexadecimal digits, and leaves dst zero unless there are as many as it holds.
func decodeHex(dst []byte, digits clr.UTF16) {
	if len(digits) != 4*len(dst) {
		return
	}
	var ascii [2 * len(TraceID{})]byte // zero, which is no digit, for characters beyond ASCII
	for i := range 2 * len(dst) {
		if digits[2*i+1] == 0 {
			ascii[i] = digits[2*i]
		}
	}
	if _, err := hex.Decode(dst, ascii[:2*len(dst)]); err != nil {
		clear(dst)
	}
}

// cutText cuts a text with its terminating zero off a payload.
func cutText(payload []byte) (text clr.UTF16, rest []byte, ok bool) {
	for i := 0; i+1 < len(payload); i += 2 {
		if payload[i] == 0 && payload[i+1] == 0 {
			return payload[:i], payload[i+2:], true
		}
	}
	return nil, nil, false
}
