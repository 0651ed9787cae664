package request

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// hosted makes an event of ASP.NET Core's own provider, of an activity.
func (a *actor) hosted(at int, name string, activity byte, texts ...string) {
	ev := a.At(time.Duration(at), &clr.GCEnd{}) // for its clock and process
	ev.Desc, ev.Payload = &trace.Descriptor{Provider: HostingProvider, Name: name}, nil
	if activity != 0 {
		ev.Labels = &trace.Labels{ActivityID: [16]byte{15: activity}}
	}
	for _, s := range texts {
		ev.Payload = append(clr.AppendUTF16(ev.Payload, s), 0, 0)
	}
	a.events = append(a.events, ev)
}

// TestHosting: requests of ASP.NET Core's own provider are matched by their activities, and are
// none where the process has them with their ids.
func TestHosting(t *testing.T) {
	for _, traced := range []bool{false, true} {
		a := &actor{Maker: tracetest.Maker{PID: 7}}
		a.hosted(9, "RequestStop", 9) // began before the trace
		a.hosted(10, "RequestStart", 1, "GET", "/a")
		a.hosted(11, "RequestStart", 2, "POST", "/b")
		a.hosted(12, "RequestStart", 0, "GET", "/none")
		a.suspend(13, 1, clr.SuspendReasonSuspendForGC)
		a.restart(15, 1)
		a.hosted(16, "RequestStop", 2)
		a.hosted(20, "RequestStop", 1)
		if traced {
			a.raise(21, "ActivityStart", "Web", "In", "TraceId", traceID, "SpanId", spanID(1), "Kind", "Server")
			a.raise(22, "ActivityStop", "Web", "In", "TraceId", traceID, "SpanId", spanID(1))
		}
		want := []string{
			fmt.Sprintf("pid 7: %d spans, 0 open, 1 startless, serves true", map[bool]int{false: 2, true: 3}[traced]),
			fmt.Sprintf(` Request "GET /a" from 10 took 10ns, paused 2 for [], suspended 0, request %v, complete true`, !traced),
			fmt.Sprintf(` Request "POST /b" from 11 took 5ns, paused 2 for [], suspended 0, request %v, complete true`, !traced),
		}
		got := spansOf(t, new(Model), &tracetest.Source{List: a.events})
		if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
			t.Errorf("traced %v: %s", traced, diff)
		}

		var ended []string
		f := Follower{Ended: func(_ uint64, s *Span) {
			ended = append(ended, fmt.Sprintf("%s %v %v %v", s.Label(), s.Duration.Or(0), s.Paused, s.TraceID))
		}}
		spans := make(map[bool][]string)
		spans[false] = []string{"POST /b 5ns 2ns ", "GET /a 10ns 2ns "}
		spans[true] = append(spans[false], "In 1ns 0s "+traceID)
		follow(t, &f, &tracetest.Source{List: a.events})
		if diff := cmp.Diff(spans[traced], ended); diff != "" {
			t.Errorf("traced %v: %s", traced, diff)
		}
	}
}

func follow(t *testing.T, f *Follower, src *tracetest.Source) {
	t.Helper()
	if err := pass.Run(t.Context(), src, f.Models()...); err != nil {
		t.Fatal(err)
	}
}
