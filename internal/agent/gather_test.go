package agent

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/gctrail/gctrail/gc"
)

// BenchmarkGather measures a scrape of 100 processes with nine kinds of collections
// each.
func BenchmarkGather(b *testing.B) {
	a, err := New(Options{Config: DefaultConfig()})
	if err != nil {
		b.Fatal(err)
	}
	for id := range 100 {
		attach(a, id, program(id, fmt.Sprint("web-", id)))
		for n := range 200 {
			c := collectionOf(uint32(n+1), n%3, time.Duration(n%60+1)*time.Millisecond)
			c.Kind = gc.Kind(1 + n/3%3)
			happen(a, id, c)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		out := expfmt.NewEncoder(io.Discard, expfmt.NewFormat(expfmt.TypeOpenMetrics))
		for _, f := range a.gather(contentOf(expfmt.TypeOpenMetrics)) {
			if err := out.Encode(f); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestFormats checks that each format has exemplars and native histograms if it can hold
// them.
func TestFormats(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	happen(a, 1, collectionOf(3, 0, 20*time.Millisecond))
	scraped := func(accept string) string {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Accept", accept)
		a.handler().ServeHTTP(w, r)
		return w.Body.String()
	}
	const exemplar = `# {gc="3"} 0.02`
	if text := scraped("text/plain"); strings.Contains(text, exemplar) || !strings.Contains(text, `le="0.025"} 1`) {
		t.Errorf("plain text: %s", text)
	}
	if text := scraped("application/openmetrics-text; version=1.0.0"); !strings.Contains(text, exemplar) || !strings.Contains(text, `le="0.025"} 1`) {
		t.Errorf("OpenMetrics: %s", text)
	}
	const delimited = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
	in := expfmt.NewDecoder(strings.NewReader(scraped(delimited)), expfmt.NewFormat(expfmt.TypeProtoDelim))
	for {
		f := new(dto.MetricFamily)
		if err := in.Decode(f); err != nil {
			t.Fatalf("no pauses in protobuf: %v", err)
		}
		if f.GetName() != "dotnet_gc_pause_duration_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		if len(h.GetPositiveDelta()) != 1 || len(h.GetExemplars()) != 1 || len(h.GetBucket()) < 10 {
			t.Errorf("protobuf: %v", h)
		}
		return
	}
}
