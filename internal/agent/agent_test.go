package agent

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

// traceStart is when traces of the tests start.
var traceStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// traced is the process of all collections.
var traced = &gc.Process{Runtime: ".NET 10.0.1"}

func program(pid int, name string) *diag.Process {
	return &diag.Process{PID: 1 << 30, InnerPID: pid, Name: name, Info: &diag.Info{Cookie: diag.Cookie{byte(pid), byte(pid >> 8), byte(pid >> 16)}, RuntimeVersion: "10.0.1"}}
}

func collectionOf(number uint32, generation int, pause time.Duration) *watch.Collection {
	start := time.Duration(number) * time.Second
	c := &gc.Collection{
		Process: traced, Number: number, Generation: gc.Some(generation), Kind: gc.Blocking,
		Reason: gc.Some(clr.GCReasonAllocSmall), Start: gc.Some(start), End: gc.Some(start + pause), PauseStart: gc.Some(start),
		Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: start, Duration: pause, Suspend: gc.Some(pause / 10)}}, AllPauses: true,
		Allocated: gc.Some(int64(1000)), SinceLast: gc.Some(time.Second), Promoted: gc.Some(int64(10)), CommittedAfter: gc.Some(int64(5000)),
		Generations: []gc.Generation{{Name: "gen0", After: gc.Some(int64(300)), Fragmentation: gc.Some(int64(30)), Budget: 7}},
		MemoryLoad:  gc.Some(42), Complete: true,
	}
	return &watch.Collection{Collection: c, Start: traceStart, Began: traceStart.Add(start), Ended: traceStart.Add(start + pause)}
}

func newAgent(t *testing.T, change func(*Config)) *Agent {
	t.Helper()
	c := DefaultConfig()
	c.Ledger.Folder = ""
	if change != nil {
		change(c)
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context) []*diag.Process { return nil }
	a, err := New(Options{Config: c, Source: watch.Source{List: nothing}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// scrape returns the samples of an agent by their series, as text.
func scrape(t *testing.T, a *Agent) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	a.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	samples := make(map[string]string)
	for line := range strings.Lines(w.Body.String()) {
		if i := strings.LastIndexByte(line, ' '); i > 0 && line[0] != '#' {
			samples[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	return samples
}

func want(t *testing.T, samples map[string]string, series, value string) {
	t.Helper()
	if got := samples[series]; got != value {
		t.Errorf("%s is %q, want %q", series, got, value)
	}
}

func attach(a *Agent, id int, p *diag.Process) {
	a.news(&watch.News{ID: id, Process: p, Attached: true})
}

func happen(a *Agent, id int, all ...*watch.Collection) {
	for _, c := range all {
		a.news(&watch.News{ID: id, Collection: c})
	}
}

func TestMetrics(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	happen(a, 1, collectionOf(3, 0, 20*time.Millisecond), collectionOf(4, 2, 30*time.Millisecond), collectionOf(6, 0, time.Millisecond))
	s := scrape(t, a)
	const who = `pid="1073741824",process="web",runtime=".NET 10.0.1"`
	want(t, s, `dotnet_gc_collections_total{dotnet_gc_heap_generation="gen0",`+who+`}`, "2")
	want(t, s, `dotnet_gc_collections_total{dotnet_gc_heap_generation="gen2",`+who+`}`, "1")
	want(t, s, `dotnet_gc_pause_time_seconds_total{`+who+`}`, "0.051000000000000004")
	want(t, s, `dotnet_gc_heap_total_allocated_bytes_total{`+who+`}`, "3000")
	want(t, s, `dotnet_gc_last_collection_heap_size_bytes{dotnet_gc_heap_generation="gen0",`+who+`}`, "300")
	want(t, s, `dotnet_gc_last_collection_memory_committed_size_bytes{`+who+`}`, "5000")
	want(t, s, `gctrail_gc_last_collection_memory_load_ratio{`+who+`}`, "0.42")
	want(t, s, `gctrail_gc_last_collection_allocation_rate_bytes_per_second{`+who+`}`, "1000")
	want(t, s, `gctrail_process_collections_before{`+who+`}`, "2")
	want(t, s, `gctrail_process_collections_missing{`+who+`}`, "1")
	const gen0 = `dotnet_gc_heap_generation="gen0",gc_kind="blocking",gc_reason="AllocSmall",` + who
	want(t, s, `dotnet_gc_pause_duration_seconds_bucket{`+gen0+`,le="0.01"}`, "1")
	want(t, s, `dotnet_gc_pause_duration_seconds_bucket{`+gen0+`,le="0.025"}`, "2")
	want(t, s, `dotnet_gc_pause_duration_seconds_count{`+gen0+`}`, "2")
}

// TestEnd checks that the counters of a process outlive it for a minute, and its
// gauges do not.
func TestEnd(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	happen(a, 1, collectionOf(1, 0, time.Millisecond))
	a.news(&watch.News{ID: 1, Ended: true})
	const who = `pid="1073741824",process="web",runtime=".NET 10.0.1"`
	s := scrape(t, a)
	want(t, s, `dotnet_gc_pause_time_seconds_total{`+who+`}`, "0.001")
	want(t, s, `dotnet_gc_last_collection_memory_committed_size_bytes{`+who+`}`, "")
	want(t, s, `gctrail_agent_processes_ended_total`, "1")
	a.judge(time.Now().Add(retention))
	want(t, scrape(t, a), `dotnet_gc_pause_time_seconds_total{`+who+`}`, "")
}

// TestShared checks that counters of processes with the same labels add up, and continue
// when one of them ends.
func TestShared(t *testing.T) {
	a := newAgent(t, func(c *Config) { c.Labels = []string{"process"}; c.Generation = "gc.heap.generation" })
	for id := range 3 {
		attach(a, id, program(id, "web"))
		happen(a, id, collectionOf(1, 1, time.Millisecond))
	}
	a.news(&watch.News{ID: 1, Ended: true})
	s := scrape(t, a)
	want(t, s, `dotnet_gc_collections_total{gc_heap_generation="gen1",process="web"}`, "3")
	want(t, s, `dotnet_gc_last_collection_memory_committed_size_bytes{process="web"}`, "10000")
	want(t, s, `gctrail_gc_last_collection_memory_load_ratio{process="web"}`, "0.42")
	want(t, s, `gctrail_process_attached{process="web"}`, "2")
	for key := range a.groups["web"].identity {
		if key == "process.pid" || key == otlp.UID {
			t.Errorf("the resource of several processes has %s", key)
		}
	}
}

// TestEnds checks that counters are served as zero before they count, and that ends are
// counted for all processes of a name.
func TestEnds(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(7, "web"))
	attach(a, 2, program(8, "web"))
	s := scrape(t, a)
	const who = `pid="1073741824",process="web",runtime=".NET 10.0.1"`
	const web = `process="web",runtime=".NET 10.0.1"`
	want(t, s, `dotnet_gc_collections_total{dotnet_gc_heap_generation="gen2",`+who+`}`, "0")
	want(t, s, `dotnet_gc_pause_time_seconds_total{`+who+`}`, "0")
	want(t, s, `dotnet_gc_heap_total_allocated_bytes_total{`+who+`}`, "0")
	want(t, s, `gctrail_process_events_lost_total{`+who+`}`, "0")
	want(t, s, `gctrail_process_ended_total{cause="oom_killed",memory="native",`+web+`}`, "0")
	want(t, s, `gctrail_process_ended_total{cause="killed",memory="unknown",`+web+`}`, "0")
	a.news(&watch.News{ID: 1, Ended: true})
	a.news(&watch.News{ID: 2, Ended: true, Err: io.ErrUnexpectedEOF})
	a.expire(time.Now().Add(2 * retention))
	s = scrape(t, a)
	want(t, s, `dotnet_gc_pause_time_seconds_total{`+who+`}`, "")
	want(t, s, `gctrail_process_ended_total{cause="exited",memory="unknown",`+web+`}`, "1")
	want(t, s, `gctrail_process_ended_total{cause="killed",memory="unknown",`+web+`}`, "1")
	a.expire(time.Now().Add(2 * sharedRetention))
	want(t, scrape(t, a), `gctrail_process_ended_total{cause="exited",memory="unknown",`+web+`}`, "")
}

// TestBounds checks that processes that come and go leave nothing behind, and that
// hostile figures and names make no new series.
func TestBounds(t *testing.T) {
	a := newAgent(t, nil)
	for id := range 5000 {
		p := program(id, "short")
		p.PID = 1<<30 + id
		attach(a, id, p)
		c := collectionOf(1, id, time.Millisecond)
		c.Reason = gc.Some(clr.GCReason(id))
		happen(a, id, c)
		a.news(&watch.News{ID: id, Ended: true})
		if id%100 == 0 {
			a.judge(time.Now())
		}
	}
	if len(a.processes) != 0 || len(a.groups) > maxEnded+100 || len(a.ends) != 1 {
		t.Errorf("%d processes, %d groups, %d groups of ends", len(a.processes), len(a.groups), len(a.ends))
	}
	b := newAgent(t, nil)
	attach(b, 1, program(1, "evil\x00\"\n"+strings.Repeat("é", 1000)))
	for i := range 1000 {
		c := collectionOf(uint32(i), i-500, time.Millisecond)
		c.Reason = gc.Some(clr.GCReason(i))
		happen(b, 1, c)
	}
	if n := len(byName(b.groups)[0].durations); n > 4*(knownReasons+2) {
		t.Errorf("%d histograms", n)
	}
	for series := range scrape(t, b) {
		if len(series) > 4*maxValue {
			t.Errorf("a series of %d bytes", len(series))
		}
	}
}

// An otlpServer records the requests that it receives.
type otlpServer struct {
	mu      sync.Mutex
	metrics []*metricspb.ResourceMetrics
	logs    []*logspb.ResourceLogs
}

func (s *otlpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(z)
	var metrics metricspb.MetricsData
	var logs logspb.LogsData
	switch {
	case err != nil:
	case r.URL.Path == "/v1/metrics":
		err = proto.Unmarshal(body, &metrics)
	case r.URL.Path == "/v1/logs":
		err = proto.Unmarshal(body, &logs)
	default:
		err = errors.New("unknown path")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metrics, s.logs = append(s.metrics, metrics.ResourceMetrics...), append(s.logs, logs.ResourceLogs...)
}

// TestPush follows a process to its end and checks what an endpoint receives.
func TestPush(t *testing.T) {
	received := new(otlpServer)
	endpoint := httptest.NewServer(received)
	defer endpoint.Close()
	config := DefaultConfig()
	config.Ledger.Folder = t.TempDir()
	config.Listen, config.OTLP.Endpoint, config.OTLP.Interval = "", endpoint.URL, time.Second
	config.Attributes = map[string]string{"deployment.environment.name": "test"}
	p := program(7, "web")
	const n = 700
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := New(Options{Config: config, Source: watch.Source{
		List: func(context.Context) []*diag.Process { return []*diag.Process{p} },
		Follow: func(ctx context.Context, p *diag.Process, _ live.Options) iter.Seq2[*live.Update, error] {
			return func(yield func(*live.Update, error) bool) {
				yield(&live.Update{Kind: live.Attached, Process: p}, nil)
				for i := range n {
					c := collectionOf(uint32(i+1), 0, 10*time.Millisecond)
					yield(&live.Update{Kind: live.Collected, Process: p, Collection: c.Collection, Start: traceStart}, nil)
				}
				cancel()
				<-ctx.Done()
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
	numbers := make(map[int64]bool)
	for _, r := range received.logs {
		for _, l := range r.ScopeLogs[0].LogRecords {
			for _, kv := range l.Attributes {
				if kv.Key == "gctrail.gc.number" {
					numbers[kv.Value.GetIntValue()] = true
				}
			}
		}
		resource := fmt.Sprint(r.Resource)
		for _, has := range []string{"unknown_service:web", p.Info.Cookie.String(), "deployment.environment.name", "10.0.1"} {
			if !strings.Contains(resource, has) {
				t.Errorf("the resource has no %s: %s", has, resource)
			}
		}
	}
	if len(numbers) != n {
		t.Errorf("%d collections received, want %d", len(numbers), n)
	}
	checkHistogram(t, received.metrics, n)
}

// checkHistogram checks the pauses among metrics: all of 10 ms.
func checkHistogram(t *testing.T, all []*metricspb.ResourceMetrics, n uint64) {
	t.Helper()
	for _, r := range all {
		for _, m := range r.ScopeMetrics[0].Metrics {
			if m.Name != "dotnet.gc.pause.duration" {
				continue
			}
			p := m.GetExponentialHistogram().DataPoints[0]
			b := p.Positive
			if p.Count != n || p.Scale != 3 || len(b.BucketCounts) != 1 || b.BucketCounts[0] != n {
				t.Errorf("histogram %v", p)
			}
			// log2(0.01) × 8 is -53.15: the value lies above 2^(-54/8), up to 2^(-53/8).
			if b.Offset != -54 {
				t.Errorf("offset %d, want -54", b.Offset)
			}
			return
		}
	}
	t.Error("no histogram of pauses was received")
}

func TestHandler(t *testing.T) {
	h := newAgent(t, nil).handler()
	for path, code := range map[string]int{
		"/healthz": 200, "/readyz": 503, "/": 200, "/nothing": 404, "/debug/pprof/": 404,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != code {
			t.Errorf("%s: %d, want %d", path, w.Code, code)
		}
	}
}

func TestFindings(t *testing.T) {
	a := newAgent(t, nil)
	attach(a, 1, program(1, "web"))
	for i := range 100 {
		c := collectionOf(uint32(i+1), 2, 500*time.Millisecond)
		c.Reason = gc.Some(clr.GCReasonInduced)
		happen(a, 1, c)
	}
	now := traceStart.Add(100 * time.Second)
	a.judge(now)
	findings := 0
	for series := range scrape(t, a) {
		if strings.HasPrefix(series, "gctrail_gc_finding{") {
			findings++
		}
	}
	if findings == 0 {
		t.Error("a program that pauses half of the time has no finding")
	}
	a.judge(now.Add(time.Hour))
	for series := range scrape(t, a) {
		if strings.HasPrefix(series, "gctrail_gc_finding{") {
			t.Errorf("after an hour there is %s", series)
		}
	}
}
