package request

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// payload assembles the payload of an event of an activity: its source, its name, and names
// with their values.
func payload(source, name string, arguments ...string) []byte {
	text := func(b []byte, s string) []byte { return append(clr.AppendUTF16(b, s), 0, 0) }
	b := text(text(nil, source), name)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(arguments)/2))
	for _, a := range arguments {
		b = text(b, a)
	}
	return b
}

// An actor makes the events of activities of a process.
type actor struct {
	tracetest.Maker
	events []*trace.Event
}

func (a *actor) raise(at int, event, source, name string, arguments ...string) {
	ev := a.At(time.Duration(at), &clr.GCEnd{}) // for its clock and process
	ev.Desc = &trace.Descriptor{Provider: Provider, Name: event}
	ev.Payload = payload(source, name, arguments...)
	a.events = append(a.events, ev)
}

func (a *actor) suspend(at int, tid uint64, reason clr.SuspendReason) {
	a.TID = tid
	a.events = append(a.events, a.At(time.Duration(at), &clr.GCSuspendEEBegin{Reason: reason}))
}

func (a *actor) restart(at int, tid uint64) {
	a.TID = tid
	a.events = append(a.events, a.At(time.Duration(at), &clr.GCRestartEEBegin{}))
}

// spansOf returns the spans of all processes in words.
func spansOf(t *testing.T, m *Model, src *tracetest.Source) []string {
	t.Helper()
	if err := pass.Run(t.Context(), src, m.Models()...); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range m.Processes(&src.Lost) {
		all = append(all, fmt.Sprintf("pid %d: %d spans, %d open, %d startless, serves %v", p.PID, p.Len, p.Open, p.Startless, p.Serves))
		for s := range p.Spans() {
			all = append(all, fmt.Sprintf("%v %s %q from %d took %v, paused %d for %v, suspended %d, request %v, complete %v",
				s.ID, s.Name, s.Route, s.Start, s.Duration, s.Paused, s.GCs, s.Suspended, p.IsRequest(s), s.Complete))
		}
	}
	return all
}

const traceID = "0af7651916cd43dd8448eb211c80319c"

func spanID(n int) string { return fmt.Sprintf("%016x", n) }

// TestSpans pauses requests, which are nested, open, of several listeners, or begun before the
// trace.
func TestSpans(t *testing.T) {
	a := &actor{Maker: tracetest.Maker{PID: 7}}
	ids := func(n, parent int) []string {
		return []string{"TraceId", traceID, "SpanId", spanID(n), "ParentSpanId", spanID(parent)}
	}
	served := func(n int) []string { return append(ids(n, 0), "Kind", "Server") }
	a.raise(5, "ActivityStop", "Web", "In", served(9)...) // began before
	a.suspend(8, 1, clr.SuspendReasonSuspendForGC)
	a.raise(10, "ActivityStart", "Web", "In", append(served(1), "DisplayName", "In")...)
	a.raise(11, "Activity1Start", "Web", "In.Start", append(ids(1, 0), "Method", "GET", "Path", "/a")...)
	a.suspend(12, 2, clr.SuspendReasonSuspendOther) // waits for the GC's to end
	a.restart(14, 1)
	a.restart(17, 2)
	a.raise(20, "ActivityStart", "Db", "Query", ids(2, 1)...)
	a.suspend(30, 1, clr.SuspendReasonSuspendForGCPrep)
	a.restart(40, 1)
	a.raise(42, "ActivityStop", "Db", "Query", append(ids(2, 1), "DisplayName", "select")...)
	a.raise(50, "ActivityStart", "Timer", "Tick", "Id", "00-"+traceID+"-"+spanID(3)+"-01", "DisplayName", "every second")
	a.raise(60, "ActivityStop", "Web", "In", served(1)...)
	a.raise(61, "Event", "Old", "Work.Start", ids(4, 0)...)
	a.suspend(62, 1, clr.SuspendReasonSuspendForGC) // its end was lost
	a.suspend(70, 1, clr.SuspendReasonSuspendForGC)
	a.restart(71, 1)
	a.raise(80, "Event", "Old", "Work.Stop", append(ids(4, 0), "DisplayName", "Work")...)
	a.restart(90, 3)                                                                           // began before the trace
	a.raise(91, "ActivityStart", "Web", "In", "TraceId", traceID, "SpanId", "not hexadecimal") // no id

	var m Model
	src := &tracetest.Source{List: a.events}
	src.Lost.Add(3, 65, 66)
	m.Collected(&gc.Collection{Process: &gc.Process{PID: 7}, Number: 6, Pauses: []gc.Pause{{Start: 30, Duration: 5}, {Start: 36, Duration: 4}}})
	m.Collected(&gc.Collection{Process: &gc.Process{PID: 7}, Number: 5, Pauses: []gc.Pause{{Start: 8, Duration: 6}}})
	want := []string{
		"pid 7: 4 spans, 1 open, 1 startless, serves true",
		`0000000000000001 In "GET /a" from 10 took 50ns, paused 14 for [5 6], suspended 3, request true, complete true`,
		`0000000000000002 Query "select" from 20 took 22ns, paused 10 for [6], suspended 0, request false, complete true`,
		`0000000000000003 Tick "every second" from 50 took -, paused 1 for [], suspended 0, request false, complete false`,
		`0000000000000004 Work "" from 61 took 19ns, paused 1 for [], suspended 0, request false, complete false`,
	}
	if diff := cmp.Diff(want, spansOf(t, &m, src)); diff != "" {
		t.Error(diff)
	}
	if m.LeftOut() != 0 {
		t.Errorf("%d left out", m.LeftOut())
	}
}

// TestSummaries sums up 200 requests, of which the last two are paused for most of their time.
func TestSummaries(t *testing.T) {
	a := &actor{Maker: tracetest.Maker{PID: 7}}
	for n := range 200 {
		at, took, path := 10_000*n, 100+n, "/a"
		if n >= 100 {
			path = "/b"
		}
		ids := []string{"TraceId", traceID, "SpanId", spanID(n + 1), "Path", path}
		a.raise(at, "ActivityStart", "Web", "In", ids...)
		if n >= 198 {
			a.suspend(at+10, 1, clr.SuspendReasonSuspendForGC)
			a.restart(at+1010, 1)
			took += 1000
		}
		a.raise(at+took, "ActivityStop", "Web", "In", ids...)
	}
	a.raise(3_000_000, "ActivityStart", "Web", "In", "SpanId", spanID(999), "Path", "/a") // which does not end
	var m Model
	src := &tracetest.Source{List: a.events}
	if err := pass.Run(t.Context(), src, m.Models()...); err != nil {
		t.Fatal(err)
	}
	all, labels := m.Processes(&src.Lost)[0].Summaries(func(*Span) bool { return true })
	if all.Count != 200 || all.Partial != 1 || all.Hit != 2 || all.Paused != 2000 || all.Duration.Percentile(50) != 199 || all.Duration.Max() != 1299 || all.Running.Max() != 299 {
		t.Errorf("%+v", all)
	}
	if tail := all.Slowest; tail.From != 297 || tail.Count != 3 || tail.Total != 297+1298+1299 || tail.Paused != 2000 {
		t.Errorf("the slowest: %+v", tail)
	}
	if len(labels) != 2 || labels[0].Label != "/b" || labels[0].Hit != 2 || labels[1].Label != "/a" || labels[1].Count != 100 || labels[1].Slowest.Share() != 0 {
		t.Errorf("%d labels, %+v, %+v", len(labels), labels[0], labels[1])
	}
	some, _ := m.Processes(&src.Lost)[0].Summaries(func(s *Span) bool { return s.Start < 20_000 })
	if some.Count != 2 {
		t.Errorf("%d requests of the first two", some.Count)
	}
}

// TestStalls: a thread that the pool adds for starvation shows that its queue did not move for
// half a second before. Other adjustments show nothing, nor do ones that are cut or of another
// process.
func TestStalls(t *testing.T) {
	const ms = int(time.Millisecond)
	adjusted := func(a *actor, at int, reason uint32, size int) {
		ev := a.At(time.Duration(at), &clr.GCEnd{})
		ev.Desc = &trace.Descriptor{Provider: clr.RuntimeProvider, ID: 55}
		ev.Payload = binary.LittleEndian.AppendUint32(make([]byte, 12), reason)[:size]
		a.events = append(a.events, ev)
	}
	a := &actor{Maker: tracetest.Maker{PID: 7}}
	ids := func(n int) []string { return []string{"TraceId", traceID, "SpanId", spanID(n)} }
	a.raise(100*ms, "ActivityStart", "Web", "In", ids(1)...)
	a.raise(1300*ms, "ActivityStart", "Web", "In", ids(2)...)
	adjusted(a, 1400*ms, 6, 16) // from 900 ms on
	adjusted(a, 1700*ms, 6, 16) // from 1,200 ms on
	a.raise(1800*ms, "ActivityStop", "Web", "In", ids(2)...)
	adjusted(a, 2300*ms, 3, 16)
	adjusted(a, 2400*ms, 6, 15)
	a.raise(2450*ms, "ActivityStop", "Web", "In", ids(1)...)
	a.raise(2500*ms, "ActivityStart", "Web", "In", ids(3)...)
	a.raise(2600*ms, "ActivityStop", "Web", "In", ids(3)...)
	a.PID = 8
	adjusted(a, 2700*ms, 6, 16)
	var m Model
	src := &tracetest.Source{List: a.events}
	if err := pass.Run(t.Context(), src, m.Models()...); err != nil {
		t.Fatal(err)
	}
	processes := m.Processes(&src.Lost)
	if len(processes) != 1 {
		t.Fatalf("%d processes", len(processes))
	}
	var got []time.Duration
	for s := range processes[0].Spans() {
		got = append(got, s.Stalled)
	}
	if want := []time.Duration{800 * time.Millisecond, 400 * time.Millisecond, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	all, _ := processes[0].Summaries(func(*Span) bool { return true })
	if all.Slowest.Stalled != 1 || all.Slowest.Count != 1 {
		t.Errorf("%+v", all.Slowest)
	}
	quick, _ := processes[0].Summaries(func(s *Span) bool { return s.Start > 2*time.Second })
	if quick.Slowest.Stalled != 0 || quick.Slowest.Count != 1 {
		t.Errorf("%+v", quick.Slowest)
	}
}

// TestHostile: no payload, cut or changed anywhere, is read past its end.
func TestHostile(t *testing.T) {
	whole := payload("Web", "In.Start", "TraceId", traceID, "SpanId", spanID(1), "Id", "00-"+traceID+"-"+spanID(1)+"-01", "Path", "/a")
	r := rand.New(rand.NewPCG(1, 2))
	var a activity
	for _, event := range []string{"ActivityStart", "Activity1Stop", "Event"} {
		desc := &trace.Descriptor{Provider: Provider, Name: event}
		for n := range len(whole) + 1 {
			cut := slices.Clone(whole[:n])
			decoded := a.decode(&trace.Event{Desc: desc, Payload: cut})
			if spanAt := 2 * len("Web_In.Start_#TraceId__SpanId__"+traceID+spanID(1)); decoded && n < spanAt-2 {
				t.Errorf("%s of %d bytes has an id", event, n)
			}
			for range 20 {
				if n > 0 {
					cut[r.IntN(n)] = byte(r.Uint32())
				}
				a.decode(&trace.Event{Desc: desc, Payload: cut})
			}
		}
	}
}

// TestBounds: there is no room for more than a million open spans, nor for more spans than
// asked for.
func TestBounds(t *testing.T) {
	a := &actor{Maker: tracetest.Maker{PID: 7}}
	a.raise(1, "ActivityStart", "Web", "In", "SpanId", spanID(1))
	ev := a.events[0]
	var m Model
	at := slices.Index(ev.Payload, '1') // the last digit of the id, but for its 15 zeros
	digits := ev.Payload[at-30 : at+2]
	for n := range maxOpen + 3 {
		for i, c := range spanID(n + 1) {
			digits[2*i] = byte(c)
		}
		m.feed(ev)
	}
	p := m.Processes(new(trace.Loss))[0]
	if p.Len != maxOpen || p.Open != maxOpen || m.LeftOut() != 3 {
		t.Errorf("%d spans, %d left out", p.Len, m.LeftOut())
	}

	few := Model{MaxSpans: 2}
	for n := range 4 {
		digits[30] = byte('1' + n)
		few.feed(ev)
	}
	if p := few.Processes(new(trace.Loss))[0]; p.Len != 2 || few.LeftOut() != 2 {
		t.Errorf("%d of two spans, %d left out", p.Len, few.LeftOut())
	}
}

// TestDecode: ids and routes of activities as filters ask for them.
func TestDecode(t *testing.T) {
	const other = "0af7651916cd43dd8448eb211c80319d"
	id := spanID(0xb7ad6b)
	context := "00-" + traceID + "-" + id + "-01"
	for _, tt := range []struct {
		arguments []string
		want      string // trace, span, parent, route
	}{
		{[]string{"TraceId", traceID, "SpanId", id}, traceID + " " + id + "  "},
		{[]string{"TraceId", strings.ToUpper(traceID), "SpanId", strings.ToUpper(id)}, traceID + " " + id + "  "},
		{[]string{"Id", context}, traceID + " " + id + "  "},
		{[]string{"TraceId", other, "SpanId", spanID(9), "Id", context}, other + " " + spanID(9) + "  "},
		{[]string{"Id", context, "ParentId", "00-" + traceID + "-" + spanID(8) + "-00"}, traceID + " " + id + " " + spanID(8) + " "},
		{[]string{"SpanId", id, "ParentSpanId", spanID(7)}, " " + id + " " + spanID(7) + " "},
		{[]string{"SpanId", id, "Method", "GET"}, " " + id + "  "},
		{[]string{"SpanId", id, "Path", "/a"}, " " + id + "  /a"},
		{[]string{"SpanId", id, "Method", "GET", "Path", "/a", "DisplayName", "x"}, " " + id + "  GET /a"},
		{[]string{"SpanId", id, "DisplayName", "In"}, " " + id + "  "},
		{[]string{"SpanId", id, "DisplayName", "orders"}, " " + id + "  orders"},
		{[]string{"SpanId", id[:15] + "g"}, "none"},
		{[]string{"SpanId", "g" + id[1:]}, "none"},
		{[]string{"SpanId", id[:14]}, "none"},
		{[]string{"Id", "|a1.2.", "Path", "/a"}, "none"},
		{[]string{"Id", context[:52]}, "none"},
		{nil, "none"},
	} {
		var a activity
		got := "none"
		if a.decode(&trace.Event{Desc: &trace.Descriptor{Name: "ActivityStart"}, Payload: payload("Web", "In", tt.arguments...)}) {
			got = fmt.Sprintf("%v %v %v %v", a.trace, a.span, a.parent, a.route(nil))
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.arguments, got, tt.want)
		}
	}
}

// TestMany: requests of many sorts are summed up together beyond the first ones, names beyond
// their bound are unknown, and an id may come again.
func TestMany(t *testing.T) {
	a := &actor{Maker: tracetest.Maker{PID: 7}}
	const spans = maxNames + 10
	for n := range spans {
		ids := []string{"SpanId", spanID(1), "Path", fmt.Sprint(n)}
		a.raise(10*n, "ActivityStart", "Web", "In", ids...)
		a.raise(10*n+1, "ActivityStop", "Web", "In", ids...)
	}
	var m Model
	src := &tracetest.Source{List: a.events}
	if err := pass.Run(t.Context(), src, m.Models()...); err != nil {
		t.Fatal(err)
	}
	p := m.Processes(&src.Lost)[0]
	all, labels := p.Summaries(func(*Span) bool { return true })
	if p.Len != spans || all.Count != spans || all.Hit != 0 || all.Slowest.Share() != 0 || len(labels) != maxLabels+1 {
		t.Fatalf("%d spans, %d requests, %d labels", p.Len, all.Count, len(labels))
	}
	if others := labels[0]; others.Label != OtherLabels || others.Count != spans-maxLabels {
		t.Errorf("%q: %d", others.Label, others.Count)
	}
	unnamed := 0
	for s := range p.Spans() {
		if s.Route == "" {
			unnamed++
		}
	}
	if unnamed != spans-maxNames+2 { // "Web" and "In" are names too
		t.Errorf("%d spans without a route", unnamed)
	}
}
