package html

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

func anySpan(*request.Span) bool { return true }

// TestRequests: a page has each request of a small trace, with the figures of its span.
func TestRequests(t *testing.T) {
	var model request.Model
	var collections gc.Model
	in, err := open.File("../../testdata/net10-wks-requests.nettrace.gz", open.Options{Want: pass.Wants(append(model.Models(), &collections)...)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for c, err := range collections.Collections(in.Source, model.Models()...) {
		if err != nil {
			t.Fatal(err)
		}
		model.Collected(c)
	}
	p := model.Processes(in.Source.Loss())[0]
	page := NewRequests(p, anySpan, in.Source.Info().Last, 3).data.(*requests)
	if page.Count != 240 || len(page.Dots.Start) != page.Count || len(page.Cells) != 0 || page.LeftOut != 3 || page.Slowest.Count != 3 || math.Round(page.Slowest.PausedPct) != 60 || page.P99 != 11282 {
		t.Errorf("%d requests, %d dots, %d cells, p99 %d µs, %+v", page.Count, len(page.Dots.Start), len(page.Cells), page.P99, page.Slowest)
	}
	i, at := 0, int64(0)
	for s := range p.Spans() {
		if !p.IsRequest(s) {
			continue
		}
		at += page.Dots.Start[i]
		if at != s.Start.Microseconds() || page.Dots.Took[i] != s.Duration.Or(0).Microseconds() || page.Dots.Paused[i] != s.Paused.Microseconds() ||
			page.Labels[page.Dots.Label[i]] != s.Label() || page.Dots.Traces[32*i:32*(i+1)] != s.TraceID.String() {
			t.Errorf("dot %d is not that of %+v", i, *s)
		}
		i++
	}
	if none := NewRequests(p, func(*request.Span) bool { return false }, time.Second, 0); none != nil {
		t.Errorf("a page of no requests: %+v", none.data)
	}
}

// TestManyRequests: of many requests, the slowest are shown one by one, and the others are counted.
func TestManyRequests(t *testing.T) {
	const n = maxDots + 5_000
	maker := tracetest.Maker{PID: 7}
	src := new(tracetest.Source)
	raise := func(at time.Duration, event string, id int) {
		text := func(b []byte, s string) []byte { return append(clr.AppendUTF16(b, s), 0, 0) }
		ev := maker.At(at, &clr.GCEnd{}) // for its clock and process
		ev.Desc = &trace.Descriptor{Provider: request.Provider, Name: event}
		ev.Payload = binary.LittleEndian.AppendUint16(text(text(nil, "Web"), fmt.Sprint("In ", id%3000)), 1)
		ev.Payload = text(text(ev.Payload, "SpanId"), fmt.Sprintf("%016x", id+1))
		src.List = append(src.List, ev)
	}
	for i := range n { // every request takes as many microseconds as its number
		at := time.Duration(i) * 100 * time.Millisecond
		raise(at, "ActivityStart", i)
		raise(at+time.Duration(i)*time.Microsecond, "ActivityStop", i)
	}
	raise(n*100*time.Millisecond, "ActivityStart", n)
	var model request.Model
	if err := pass.Run(t.Context(), src, model.Models()...); err != nil {
		t.Fatal(err)
	}
	page := NewRequests(model.Processes(&src.Lost)[0], anySpan, n*100*time.Millisecond, 0).data.(*requests)
	var counted int64
	for _, c := range page.Cells {
		counted += c[2]
		if c[0] < 0 || c[0] > cellTimes || c[1] < 0 || c[3] != 0 {
			t.Errorf("cell %v", c)
		}
	}
	if page.Count != n || page.Unended != 1 || len(page.Dots.Took) != maxDots || counted != n-maxDots || page.Dots.Took[0] != n-maxDots {
		t.Errorf("%d requests, %d unended; %d dots, the fastest %d µs; %d in cells", page.Count, page.Unended, len(page.Dots.Took), page.Dots.Took[0], counted)
	}
	if len(page.Labels) != maxLabels || page.Dots.Label[len(page.Dots.Label)-1] < -1 {
		t.Errorf("%d labels", len(page.Labels))
	}
	if text, err := json.Marshal(page); err != nil || len(text) > 1<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
