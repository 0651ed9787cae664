package perfetto

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/extent"
)

// TestRequests holds the packets of requests that overlap, of a span in one of them, of one
// that has not ended, and of the two pauses in them.
func TestRequests(t *testing.T) {
	const ms = time.Millisecond
	var out bytes.Buffer
	w := NewWriter(&out)
	to := w.NewRequests(&gc.Process{PID: 7, Name: "web"}, 100*ms)
	first, second := request.Pause{Number: 4, Start: 12 * ms, Duration: 3 * ms}, request.Pause{Number: 5, Start: 90 * ms, Duration: ms}
	add := func(s *request.Span, pauses ...request.Pause) {
		t.Helper()
		if err := to.Add(s, slices.Values(pauses)); err != nil {
			t.Fatal(err)
		}
	}
	add(&request.Span{
		TraceID: request.TraceID{1}, ID: request.SpanID{2}, Source: "Shop", Name: "In", Route: "GET /a", Kind: "Server",
		Start: 10 * ms, Duration: gc.Some(10 * ms), Paused: 3 * ms, Complete: true,
	}, first)
	add(&request.Span{ID: request.SpanID{3}, Parent: request.SpanID{2}, Name: "Query", Nested: true, Start: 11 * ms, Duration: gc.Some(ms), Complete: true})
	add(&request.Span{ID: request.SpanID{4}, Name: "In", Start: 14 * ms, Suspended: ms / 2, Paused: 2 * ms}, first, second)
	add(&request.Span{ID: request.SpanID{5}, Start: 20 * ms, Duration: gc.Some(ms), Complete: true})
	if err := errors.Join(to.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if to.Written != 4 || to.LeftOut != 0 {
		t.Errorf("%d spans written, %d left out", to.Written, to.LeftOut)
	}
	var got strings.Builder
	dump(t, out.Bytes(), "", &got)
	extent.Golden(t, "testdata/requests.txt", got.String())
}

// TestRequestsAtOnce has more spans at once than there are tracks, and one after them.
func TestRequestsAtOnce(t *testing.T) {
	var out bytes.Buffer
	to := NewWriter(&out).NewRequests(&gc.Process{PID: 7}, time.Minute)
	for range maxLanes + 2 {
		if err := to.Add(&request.Span{Duration: gc.Some(time.Second)}, slices.Values([]request.Pause(nil))); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Add(&request.Span{Start: time.Second}, slices.Values([]request.Pause(nil))); err != nil {
		t.Fatal(err)
	}
	if to.Written != maxLanes+1 || to.LeftOut != 2 {
		t.Errorf("%d spans written, %d left out", to.Written, to.LeftOut)
	}
}
