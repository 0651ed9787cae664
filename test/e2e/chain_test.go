package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/otlp"
)

// Senders send the records of a process each, and repeat what is not acknowledged.
type senders struct {
	to           string
	began        time.Time
	acknowledged atomic.Int64  // records
	repeated     atomic.Int64  // requests
	counted      chan struct{} // has an item when either was counted since killing looked
}

func newSenders(to string) *senders {
	return &senders{to: to, began: time.Now().Add(-time.Hour), counted: make(chan struct{}, 1)}
}

// count adds to one of the counts.
func (s *senders) count(to *atomic.Int64, n int) {
	to.Add(int64(n))
	select {
	case s.counted <- struct{}{}:
	default:
	}
}

// batch is the body with n records of a process behind the first ones.
func (s *senders) batch(uid, first, n int) ([]byte, error) {
	scope := &logspb.ScopeLogs{}
	for number := first; number < first+n; number++ {
		pause := time.Duration(1+number%100) * time.Millisecond
		start := time.Duration(number) * 10 * time.Millisecond
		c := &gc.Collection{
			Process: &gc.Process{}, Number: uint32(number + 1), ClrInstance: 8, Generation: gc.Some(number % 10 / 9 * 2), Kind: gc.Blocking,
			Start: gc.Some(start), Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: start, Duration: pause}}, AllPauses: true,
			HeapAfter: gc.Some(int64(64<<20 + rand.IntN(1<<20))), Allocated: gc.Some(int64(6 << 20)), Complete: true,
		}
		scope.LogRecords = append(scope.LogRecords, otlp.OfCollection(c, s.began.Add(start)))
	}
	return proto.Marshal(&logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		Resource: otlp.NewResource(map[string]any{
			otlp.UID: fmt.Sprintf("%032x", uid), "service.name": "shop", "k8s.pod.name": fmt.Sprintf("shop-%d", uid), "process.pid": int64(uid),
		}),
		ScopeLogs: []*logspb.ScopeLogs{scope},
	}}})
}

// send sends records of a process, as many at a time as next returns, until that is none.
func (s *senders) send(ctx context.Context, t *testing.T, uid int, next func(sent int) int) {
	client := &http.Client{Timeout: 10 * time.Second}
	sent := 0
	for n := next(sent); n > 0; n = next(sent) {
		body, err := s.batch(uid, sent, n)
		if err != nil {
			t.Error(err)
			return
		}
		for !post(client, s.to, body) {
			s.count(&s.repeated, 1)
			select {
			case <-ctx.Done():
				t.Error("records are not taken any more")
				return
			case <-time.After(50 * time.Millisecond): // as a client does that tries again
			}
		}
		s.count(&s.acknowledged, n)
		sent += n
	}
}

// post reports whether a request was acknowledged.
func post(client *http.Client, to string, body []byte) bool {
	resp, err := client.Post(to+"/v1/logs", "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// all sends as several processes at a time.
func (s *senders) all(ctx context.Context, t *testing.T, processes int, next func(sent int) int) {
	t.Helper()
	var all sync.WaitGroup
	for uid := range processes {
		all.Go(func() { s.send(ctx, t, uid, next) })
	}
	all.Wait()
}

// upTo returns how many of a number of records a process sends next.
func upTo(records, size int) func(sent int) int {
	return func(sent int) int { return min(size, records-sent) }
}

// killing kills programs one after the other while records are sent, each once more of
// them were acknowledged, and starts each again once a request had to be repeated, which
// takes long where other parts wait for the one that is killed.
func (s *senders) killing(ctx context.Context, t *testing.T, acknowledged int64, programs ...*program) {
	exceeds := func(ctx context.Context, count *atomic.Int64, than int64) {
		for count.Load() <= than && ctx.Err() == nil {
			select {
			case <-s.counted:
			case <-ctx.Done():
			}
		}
	}
	for _, p := range programs {
		exceeds(ctx, &s.acknowledged, s.acknowledged.Load()+acknowledged)
		repeated := s.repeated.Load()
		p.kill()
		noticed, cancel := context.WithTimeout(ctx, 2*time.Second)
		exceeds(noticed, &s.repeated, repeated)
		cancel()
		p.start(t)
	}
}

// totals asks the fleet how many collections it has, of how many processes.
func totals(t *testing.T, store string) (collections, processes int64) {
	t.Helper()
	out := gctrailRun(t, "fleet", "top", "--store", store, "--by", "process", "--format", "jsonl")
	var row struct{ Collections, Processes int64 }
	if out != "" {
		if err := json.Unmarshal([]byte(out), &row); err != nil {
			t.Fatal(err)
		}
	}
	return row.Collections, row.Processes
}

// number returns the number in an environment variable, or otherwise if it is not set.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestChain sends records through a Collector and a receiver to ClickHouse.
func TestChain(t *testing.T) {
	records := number(t, "GCTRAIL_E2E_RECORDS", 200_000)
	const processes = 8
	server := startServer(t)
	store := server.address + "/gctrail"
	_, receiver := startReceiver(t, store)
	_, to := startCollector(t, receiver)
	start := time.Now()
	all := newSenders(to)
	all.all(t.Context(), t, processes, upTo(records/processes, 2000))
	took := time.Since(start)
	acknowledged := all.acknowledged.Load()
	collections, named := totals(t, store)
	t.Logf("%d records acknowledged in %v, %d requests repeated", acknowledged, took.Round(time.Millisecond), all.repeated.Load())
	if acknowledged != int64(records) || collections != acknowledged || named != processes {
		t.Errorf("%d acknowledged, %d of %d processes stored, want %d", acknowledged, collections, named, records)
	}
}

// TestKilled kills each part in turn while records are sent. None that was
// acknowledged may be lost, and none may count twice.
func TestKilled(t *testing.T) {
	server := startServer(t)
	store := server.address + "/gctrail"
	receiver, address := startReceiver(t, store)
	middle, to := startCollector(t, address)

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	all := newSenders(to)
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		all.killing(ctx, t, 1000, server.program, receiver, middle, server.program, receiver)
	}()
	all.all(ctx, t, 8, func(int) int {
		select {
		case <-killed:
			return 0
		case <-time.After(20 * time.Millisecond):
			return 20
		}
	})
	<-killed
	acknowledged, repeated := all.acknowledged.Load(), all.repeated.Load()
	collections, _ := totals(t, store)
	t.Logf("%d records acknowledged, %d requests repeated, %d stored once", acknowledged, repeated, collections)
	if collections != acknowledged || repeated == 0 || acknowledged == 0 {
		t.Errorf("%d acknowledged, %d stored, %d repeated", acknowledged, collections, repeated)
	}
	twice := strings.TrimSpace(gctrailRun(t, "fleet", "query", "--store", store, "--format", "csv",
		"SELECT count() FROM (SELECT process_uid, number FROM gc FINAL GROUP BY process_uid, number HAVING count() > 1)"))
	if !strings.HasSuffix(twice, "\n0") {
		t.Errorf("records that count twice: %s", twice)
	}
}

// TestFolder does the same with a folder, whose receiver is killed.
func TestFolder(t *testing.T) {
	store := t.TempDir()
	receiver, to := startReceiver(t, store)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	all := newSenders(to)
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		all.killing(ctx, t, 10_000, receiver, receiver, receiver)
	}()
	all.all(ctx, t, 4, upTo(20_000, 500))
	<-killed
	acknowledged := all.acknowledged.Load()
	collections, processes := totals(t, store)
	t.Logf("%d records acknowledged, %d requests repeated", acknowledged, all.repeated.Load())
	if acknowledged != 80_000 || collections != acknowledged || processes != 4 {
		t.Errorf("%d acknowledged, %d of %d processes stored", acknowledged, collections, processes)
	}
}
