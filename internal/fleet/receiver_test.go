package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/otlp"
)

// memory is a store that can fail.
type memory struct {
	mu      sync.Mutex
	inserts int
	stored  []Row
	fail    error
}

func (m *memory) insert(_ context.Context, t *Table, encoded []byte, count int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.inserts++
	before := len(m.stored)
	for row, err := range t.decode(encoded) {
		if err != nil {
			return err
		}
		m.stored = append(m.stored, append(Row(nil), row...))
	}
	if len(m.stored)-before != count {
		return errors.New("the count of rows is wrong")
	}
	return nil
}

func (m *memory) groups(context.Context, *Filter, []string, int) ([]Group, error) { return nil, nil }

func (m *memory) latest(context.Context, *Table, *Filter, int) ([]Row, error) { return nil, nil }

func (m *memory) rows(context.Context, *Table, *Filter) iter.Seq2[Row, error] { return nil }

// receiver returns a receiver whose clock is an hour after the records of the tests.
func receiver(store Store, token string) *Receiver {
	r := NewReceiver(store, token, time.Millisecond)
	r.now = func() time.Time { return noon.Add(time.Hour) }
	return r
}

func post(r *Receiver, body []byte, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, "/v1/logs", bytes.NewReader(body))
	req.Header.Set("Content-Type", mediaProtobuf)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, req)
	return w
}

func TestReceive(t *testing.T) {
	store := &memory{}
	r := receiver(store, "")
	other := &logspb.ResourceLogs{ScopeLogs: []*logspb.ScopeLogs{{LogRecords: []*logspb.LogRecord{{Body: otlp.String("hello")}}}}}
	body := encode(t, pods(1)[0].logs(1, 10), other)
	if w := post(r, body); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Fatalf("status %d, %q", w.Code, w.Body)
	}
	if len(store.stored) != 10 {
		t.Fatalf("%d rows", len(store.stored))
	}
	table, row := Collections(), store.stored[4]
	for name, want := range map[string]string{
		"process_uid": strings.Repeat("0", 32), "service_name": "shop", "service_version": "1.0", "k8s_pod": "shop-0", "pid": "7",
		"number": "5", "generation": "2", "kind": "blocking", "pause_ms": "5", "heap_after_bytes": "5242880", "complete": "true",
		"clr_instance": "9", "promoted_bytes": "", "time_ns": "1772366405000000000",
	} {
		if got := Text(table.Value(row, name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if r.Stored() != 10 || r.counts.others.Load() != 1 {
		t.Errorf("stored %d, others %d", r.Stored(), r.counts.others.Load())
	}
}

func TestReceiveGzip(t *testing.T) {
	store := &memory{}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(encode(t, pods(1)[0].logs(1, 3)))
	_ = w.Close()
	if w := post(receiver(store, ""), packed.Bytes(), "Content-Encoding", "gzip"); w.Code != http.StatusOK || len(store.stored) != 3 {
		t.Errorf("status %d, %d rows", w.Code, len(store.stored))
	}
}

// TestRejects sends records of which some cannot be stored: the others are stored, and
// the answer has the number of rejected ones.
func TestRejects(t *testing.T) {
	p := pods(1)[0]
	unknown, old, nobody := p.logs(1, 1), p.logs(2, 2), testProcess{}.logs(3, 3)
	unknown.ScopeLogs[0].LogRecords[0].Attributes = nil
	old.ScopeLogs[0].LogRecords[0].TimeUnixNano = 1
	emptyList := p.logs(5, 5)
	for _, kv := range emptyList.Resource.Attributes {
		if kv.Key == otlp.UID {
			kv.Value = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{}}}
		}
	}
	store := &memory{}
	w := post(receiver(store, ""), encode(t, unknown, old, nobody, emptyList, p.logs(4, 4)))
	if w.Code != http.StatusOK || len(store.stored) != 1 {
		t.Fatalf("status %d, %d rows", w.Code, len(store.stored))
	}
	_, _, n := protowire.ConsumeTag(w.Body.Bytes())
	partial, _ := protowire.ConsumeBytes(w.Body.Bytes()[n:])
	_, _, n = protowire.ConsumeTag(partial)
	if rejected, _ := protowire.ConsumeVarint(partial[n:]); rejected != 4 {
		t.Errorf("%d records rejected, want 4", rejected)
	}
}

func TestRefuses(t *testing.T) {
	good := encode(t, pods(1)[0].logs(1, 1))
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range maxMessage>>20 + 1 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	for _, test := range []struct {
		name   string
		body   []byte
		header []string
		want   int
	}{
		{"no token", good, nil, http.StatusUnauthorized},
		{"wrong token", good, []string{"Authorization", "Bearer wrong"}, http.StatusUnauthorized},
		{"another scheme", good, []string{"Authorization", "Basic secret"}, http.StatusUnauthorized},
		{"json", good, []string{"Authorization", "Bearer secret", "Content-Type", "application/json"}, http.StatusUnsupportedMediaType},
		{"zstd", good, []string{"Authorization", "Bearer secret", "Content-Encoding", "zstd"}, http.StatusUnsupportedMediaType},
		{"no gzip", good, []string{"Authorization", "Bearer secret", "Content-Encoding", "gzip"}, http.StatusBadRequest},
		{"bomb", bomb.Bytes(), []string{"Authorization", "Bearer secret", "Content-Encoding", "gzip"}, http.StatusRequestEntityTooLarge},
		{"large", make([]byte, maxBody+1), []string{"Authorization", "Bearer secret"}, http.StatusRequestEntityTooLarge},
		{"cut", good[:len(good)-3], []string{"Authorization", "Bearer secret"}, http.StatusBadRequest},
		{"good", good, []string{"Authorization", "Bearer secret"}, http.StatusOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			if w := post(receiver(&memory{}, "secret"), test.body, test.header...); w.Code != test.want {
				t.Errorf("status %d, want %d", w.Code, test.want)
			}
		})
	}
}

// TestAmplification sends records that are small themselves, but repeat the long
// texts of their resource.
func TestAmplification(t *testing.T) {
	p := testProcess{strings.Repeat("u", maxText), strings.Repeat("s", maxText), strings.Repeat("v", maxText), strings.Repeat("p", maxText)}
	logs := p.logs(1, 1)
	one := logs.ScopeLogs[0].LogRecords[0]
	var few []*commonpb.KeyValue
	for _, kv := range one.Attributes {
		if strings.HasSuffix(kv.Key, ".number") || strings.HasSuffix(kv.Key, ".clr_instance") {
			few = append(few, kv)
		}
	}
	one.Attributes = few
	for range 10_000 {
		logs.ScopeLogs[0].LogRecords = append(logs.ScopeLogs[0].LogRecords, one)
	}
	if w := post(receiver(&memory{}, ""), encode(t, logs)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d, want 413", w.Code)
	}
}

// TestStoreFails expects that the sender is asked to try again, and that nothing counts
// as stored.
func TestStoreFails(t *testing.T) {
	r := receiver(&memory{fail: errors.New("no disk")}, "")
	w := post(r, encode(t, pods(1)[0].logs(1, 5)))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || r.Stored() != 0 {
		t.Errorf("status %d, Retry-After %q, %d stored", w.Code, w.Header().Get("Retry-After"), r.Stored())
	}
}

// TestBatches expects that simultaneous requests are stored together, and that waiting
// rows are bounded.
func TestBatches(t *testing.T) {
	store := &memory{}
	r := receiver(store, "")
	r.batches.delay = 200 * time.Millisecond
	var all sync.WaitGroup
	for _, p := range pods(20) {
		all.Go(func() {
			if w := post(r, encode(t, p.logs(1, 10))); w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
		})
	}
	all.Wait()
	if len(store.stored) != 200 || store.inserts > 10 {
		t.Errorf("%d rows in %d inserts", len(store.stored), store.inserts)
	}
	if r.batches.waiting != 0 || len(r.batches.open) != 0 {
		t.Errorf("%d bytes still wait in %d batches", r.batches.waiting, len(r.batches.open))
	}
	r.batches.waiting = maxWaiting
	if w := post(r, encode(t, pods(1)[0].logs(1, 1))); w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d with a full queue", w.Code)
	}
}

// TestMalformed sends damaged requests. None may harm the receiver, and none may store
// rows that cannot be read back.
func TestMalformed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	store := &memory{}
	r := receiver(store, "")
	r.batches.delay = 0
	good := encode(t, pods(1)[0].logs(1, 20))
	codes := make(map[int]int)
	for range 10_000 {
		body := bytes.Clone(good)
		for range 1 + random.IntN(8) {
			switch at := random.IntN(len(body)); random.IntN(3) {
			case 0:
				body[at] ^= 1 << random.IntN(8)
			case 1:
				body = body[:max(1, at)]
			default:
				body = append(body[:at], body[random.IntN(at+1):]...)
			}
		}
		codes[post(r, body).Code]++
		store.stored = store.stored[:0]
	}
	if codes[http.StatusOK]+codes[http.StatusBadRequest] != 10_000 {
		t.Errorf("statuses %v", codes)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, pods(1)[0].logs(1, 2)))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := receiver(&memory{}, "")
		d := r.decoders.Get().(*decoder)
		out := &decoded{rows: make(map[*Table]*rows)}
		d.newest = noon.Add(time.Hour).UnixNano()
		if d.decode(body, out) != nil {
			return
		}
		for table, stored := range out.rows {
			n := 0
			for row, err := range table.decode(stored.bytes) {
				if err != nil {
					t.Fatal(err)
				}
				if table.Value(row, columnUID).Type != figure.Text {
					t.Fatal("a row without a process")
				}
				n++
			}
			if n != stored.count {
				t.Fatalf("%d rows, %d counted", n, stored.count)
			}
		}
	})
}

func BenchmarkReceive(b *testing.B) {
	body := encode(b, pods(1)[0].logs(1, 1000))
	r := receiver(&memory{}, "")
	d := r.decoders.Get().(*decoder)
	d.newest = noon.Add(time.Hour).UnixNano()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.decode(body, &decoded{rows: make(map[*Table]*rows)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}
