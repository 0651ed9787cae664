package agent

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/watch"
)

// TestExemplars has a request that a pause stopped in the exemplars of its histogram, once by
// OTLP, and in the log record of its collection.
func TestExemplars(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	stopped := &request.Span{TraceID: request.TraceID{0xab, 15: 1}, ID: request.SpanID{0xcd, 7: 2}}
	a.news(&watch.News{ID: 1, Collection: collectionOf(3, 0, 20*time.Millisecond), Paused: []*request.Span{stopped}})
	a.news(&watch.News{ID: 1, Collection: collectionOf(4, 0, 200*time.Millisecond), Paused: []*request.Span{nil}})

	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	a.handler().ServeHTTP(w, r)
	for _, want := range []string{`# {gc="3",trace_id="` + stopped.TraceID.String() + `",span_id="` + stopped.ID.String() + `"} 0.02`, `# {gc="4"} 0.2`} {
		if n := strings.Count(w.Body.String(), want); n != 1 {
			t.Errorf("%d exemplars %s", n, want)
		}
	}

	for _, want := range []int{1, 0} {
		got := pauseExemplars(a.resourceMetrics(a.processes[1].group, nil, time.Now()))
		if len(got) != want {
			t.Fatalf("%d exemplars, expected %d", len(got), want)
		}
		if want > 0 && (hex.EncodeToString(got[0].TraceId) != stopped.TraceID.String() || hex.EncodeToString(got[0].SpanId) != stopped.ID.String() || got[0].GetAsDouble() != 0.02 || got[0].TimeUnixNano == 0) {
			t.Errorf("exemplar %v", got[0])
		}
	}

	a.records.add(a.processes[1], collectionOf(5, 0, time.Millisecond), stopped)
	a.records.add(a.processes[1], collectionOf(6, 0, time.Millisecond), nil)
	logs := logsOf(a.records.waiting).ResourceLogs[0].ScopeLogs[0].LogRecords
	if hex.EncodeToString(logs[0].TraceId) != stopped.TraceID.String() || hex.EncodeToString(logs[0].SpanId) != stopped.ID.String() || logs[1].TraceId != nil {
		t.Errorf("records %v", logs)
	}
}

func pauseExemplars(r *metricspb.ResourceMetrics) (all []*metricspb.Exemplar) {
	for _, m := range r.ScopeMetrics[0].Metrics {
		if m.Name == pauseDuration.name {
			for _, p := range m.GetExponentialHistogram().DataPoints {
				all = append(all, p.Exemplars...)
			}
		}
	}
	return all
}
