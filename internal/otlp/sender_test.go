package otlp_test

import (
	"compress/gzip"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/internal/otlp"
)

// An endpoint answers with one status after the other; the last stays.
type endpoint struct {
	mu       sync.Mutex
	statuses []int
	header   http.Header
	answer   []byte
	at       []time.Time
	got      []string // bodies of the first records that were answered with 200
	headers  http.Header
	paths    []string
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	status := e.statuses[0]
	if len(e.statuses) > 1 {
		e.statuses = e.statuses[1:]
	}
	e.at = append(e.at, time.Now())
	e.paths, e.headers = append(e.paths, r.URL.Path), r.Header
	if status == http.StatusOK {
		e.got = append(e.got, bodyOf(body))
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: e.header, Body: io.NopCloser(strings.NewReader(string(e.answer)))}, nil
}

func bodyOf(packed []byte) string {
	z, err := gzip.NewReader(strings.NewReader(string(packed)))
	if err != nil {
		return err.Error()
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		return err.Error()
	}
	var logs logspb.LogsData
	if err := proto.Unmarshal(plain, &logs); err != nil {
		return err.Error()
	}
	return logs.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Body.GetStringValue()
}

func message(body string) *logspb.LogsData {
	return &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		ScopeLogs: []*logspb.ScopeLogs{{LogRecords: []*logspb.LogRecord{{Body: otlp.String(body)}}}},
	}}}
}

// run runs a Sender for a while of simulated time, in which f may push.
func run(t *testing.T, e *endpoint, opts otlp.Options, f func(*otlp.Sender)) otlp.Stats {
	t.Helper()
	opts.Endpoint, opts.Transport = "http://collector:4318/", e
	s, err := otlp.NewSender(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	f(s)
	cancel()
	<-done
	return s.Stats()
}

func push(t *testing.T, s *otlp.Sender, body string, items int) {
	t.Helper()
	if err := s.Push(otlp.Logs, message(body), items); err != nil {
		t.Fatal(err)
	}
}

func TestSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{statuses: []int{200}}
		stats := run(t, e, otlp.Options{Headers: map[string]string{"api-key": "k"}}, func(s *otlp.Sender) {
			push(t, s, "one", 3)
			push(t, s, "two", 1)
		})
		if strings.Join(e.got, " ") != "one two" || e.paths[0] != "/v1/logs" || e.headers.Get("Api-Key") != "k" {
			t.Errorf("received %q at %q with %v", e.got, e.paths, e.headers)
		}
		if got := stats.Signals[otlp.Logs]; got != (otlp.Counts{Sent: 4}) || stats.QueuedBytes != 0 || stats.QueuedItems != 0 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{statuses: []int{503, 429, 200}, header: http.Header{"Retry-After": {"7"}}}
		stats := run(t, e, otlp.Options{}, func(s *otlp.Sender) {
			push(t, s, "late", 2)
			time.Sleep(time.Minute)
		})
		if stats.Signals[otlp.Logs].Sent != 2 || stats.Failures != 2 || stats.Requests != 3 {
			t.Errorf("%+v", stats)
		}
		for i := range e.at[1:] {
			if gap := e.at[i+1].Sub(e.at[i]); gap != 7*time.Second {
				t.Errorf("try %d came after %v, Retry-After asks for 7 s", i+1, gap)
			}
		}
	})
}

func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{statuses: []int{400, 200}}
		stats := run(t, e, otlp.Options{}, func(s *otlp.Sender) {
			push(t, s, "bad", 5)
			push(t, s, "good", 1)
		})
		if got := stats.Signals[otlp.Logs]; got != (otlp.Counts{Sent: 1, Rejected: 5}) || len(e.at) != 2 {
			t.Errorf("%+v after %d requests", got, len(e.at))
		}
	})
}

// TestRefusalReasons checks that the caller learns why an endpoint refuses items: with a Status, in
// a partial success, and with a page that is no answer of OTLP.
func TestRefusalReasons(t *testing.T) {
	why := func(field protowire.Number) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), "logs only")
	}
	partial := append(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 5), why(2)...)
	proto := http.Header{"Content-Type": {"application/x-protobuf"}}
	for _, tt := range []struct {
		status int
		header http.Header
		answer []byte
		want   string // empty for no refusal
	}{
		{404, proto, why(2), "Not Found: logs only"},
		{404, proto, []byte("<html>"), "Not Found"},
		{404, nil, why(2), "Not Found"},
		{200, proto, protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial), "5 of 5 rejected: logs only"},
		{200, proto, nil, ""},
		{503, proto, why(2), ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			got := ""
			opts := otlp.Options{Refused: func(_ otlp.Signal, items int, err error) {
				if got = err.Error(); items != 5 {
					t.Errorf("%d items", items)
				}
			}}
			run(t, &endpoint{statuses: []int{tt.status}, header: tt.header, answer: tt.answer}, opts, func(s *otlp.Sender) { push(t, s, "some", 5) })
			if got != tt.want {
				t.Errorf("%d %q: %q, want %q", tt.status, tt.answer, got, tt.want)
			}
		})
	}
}

func TestPartialSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2)
		partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "too old")
		e := &endpoint{statuses: []int{200}, answer: protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)}
		stats := run(t, e, otlp.Options{}, func(s *otlp.Sender) { push(t, s, "some", 5) })
		if got := stats.Signals[otlp.Logs]; got != (otlp.Counts{Sent: 3, Rejected: 2}) || stats.Err == nil || !strings.Contains(stats.Err.Error(), "too old") {
			t.Errorf("%+v, %v", got, stats.Err)
		}
	})
}

// TestDown checks that the queue of an endpoint that is down stays bounded, counts the requests
// that it drops, and keeps the newest.
func TestDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{statuses: []int{502}}
		var most int
		stats := run(t, e, otlp.Options{QueueBytes: 1000}, func(s *otlp.Sender) {
			for range 100 {
				push(t, s, "lost", 1)
				most = max(most, s.Stats().QueuedBytes)
			}
			push(t, s, "latest", 1)
			time.Sleep(10 * time.Second)
			e.mu.Lock()
			e.statuses = []int{200}
			e.mu.Unlock()
			time.Sleep(time.Minute)
		})
		got := stats.Signals[otlp.Logs]
		if got.Sent+got.Dropped != 101 || got.Dropped < 50 || got.Sent != uint64(len(e.got)) || e.got[len(e.got)-1] != "latest" {
			t.Errorf("%+v, %d received", got, len(e.got))
		}
		if most > 1000 {
			t.Errorf("%d bytes were queued", most)
		}
	})
}

// TestEnd checks that Run ends if the endpoint does not answer, and counts the requests that are
// left.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{statuses: []int{503}}
		began := time.Now()
		stats := run(t, e, otlp.Options{}, func(s *otlp.Sender) { push(t, s, "left", 4) })
		if stats.Signals[otlp.Logs] != (otlp.Counts{Dropped: 4}) || time.Since(began) > 5*time.Second {
			t.Errorf("%+v after %v", stats, time.Since(began))
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	followed := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			followed = true
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	s, err := otlp.NewSender(otlp.Options{Endpoint: server.URL, Headers: map[string]string{"Authorization": "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	push(t, s, "x", 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx)
	if got := s.Stats().Signals[otlp.Logs]; got.Rejected != 1 || followed {
		t.Errorf("%+v, followed: %v", got, followed)
	}
}

func TestEndpoints(t *testing.T) {
	for _, bad := range []string{"", "localhost:4318", "ftp://x", "http://"} {
		if _, err := otlp.NewSender(otlp.Options{Endpoint: bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_HEADERS": "a=1, b=x%20y",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
	}
	opts, err := otlp.FromEnvironment(func(name string) string { return env[name] })
	if err != nil || opts.Endpoint != "http://c:4318" || opts.Timeout != 2500*time.Millisecond || !opts.Uncompressed ||
		!maps.Equal(opts.Headers, map[string]string{"a": "1", "b": "x y"}) {
		t.Errorf("%+v, %v", opts, err)
	}
	for name, value := range map[string]string{"PROTOCOL": "grpc", "TIMEOUT": "soon", "HEADERS": "nothing"} {
		bad := map[string]string{"OTEL_EXPORTER_OTLP_" + name: value}
		if _, err := otlp.FromEnvironment(func(name string) string { return bad[name] }); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// TestOneSignal checks that a signal without an endpoint is refused, and the other
// sent.
func TestOneSignal(t *testing.T) {
	s, err := otlp.NewSender(otlp.Options{LogsEndpoint: "http://collector/logs"})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Sends(otlp.Logs) || s.Sends(otlp.Metrics) {
		t.Errorf("logs %v, metrics %v", s.Sends(otlp.Logs), s.Sends(otlp.Metrics))
	}
	if err := s.Push(otlp.Metrics, &metricspb.MetricsData{}, 1); err == nil {
		t.Error("metrics without an endpoint are queued")
	}
	if _, err := otlp.NewSender(otlp.Options{}); err == nil {
		t.Error("a sender without any endpoint")
	}
}

// TestProfiles: profiles go to the endpoint that is theirs, as they are encoded, and the
// reason of a refusal is the message of an error of the Connect protocol.
func TestProfiles(t *testing.T) {
	var path, media string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, media = r.URL.Path, r.Header.Get("Content-Type")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"code":"invalid_argument","message":"no labels"}`)
	}))
	defer server.Close()
	var why error
	s, err := otlp.NewSender(otlp.Options{
		Endpoint: "http://127.0.0.1:1", ProfilesEndpoint: server.URL + "/push", Media: "application/proto",
		Refused: func(_ otlp.Signal, _ int, err error) { why = err },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PushEncoded(otlp.Profiles, []byte("x"), 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx)
	if got := s.Stats().Signals[otlp.Profiles]; got != (otlp.Counts{Rejected: 1}) || path != "/push" || media != "application/proto" {
		t.Errorf("%+v at %s as %s", got, path, media)
	}
	if why == nil || !strings.Contains(why.Error(), "no labels") {
		t.Errorf("refused because of %v", why)
	}
	if s, err := otlp.NewSender(otlp.Options{Endpoint: server.URL}); err != nil || s.Sends(otlp.Profiles) {
		t.Errorf("the endpoint of logs and metrics stands for profiles: %v", err)
	}
}
