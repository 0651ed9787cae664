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
	"github.com/gctrail/gctrail/internal/otlp/record"
)

// A sender sends the records of one process, and repeats what is not acknowledged.
type sender struct {
	uid          int
	to           string
	acknowledged atomic.Int64
	repeated     atomic.Int64
}

// batch is the body with n records behind the first ones.
func (s *sender) batch(first, n int, began time.Time) ([]byte, error) {
	scope := &logspb.ScopeLogs{}
	for number := first; number < first+n; number++ {
		pause := time.Duration(1+number%100) * time.Millisecond
		start := time.Duration(number) * 10 * time.Millisecond
		c := &gc.Collection{
			Process: &gc.Process{}, Number: uint32(number + 1), ClrInstance: 8, Generation: gc.Some(number % 10 / 9 * 2), Kind: gc.Blocking,
			Start: gc.Some(start), Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: start, Duration: pause}}, AllPauses: true,
			HeapAfter: gc.Some(int64(64<<20 + rand.IntN(1<<20))), Allocated: gc.Some(int64(6 << 20)), Complete: true,
		}
		scope.LogRecords = append(scope.LogRecords, record.OfCollection(c, began.Add(start)))
	}
	return proto.Marshal(&logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		Resource: record.NewResource(map[string]any{
			record.UID: fmt.Sprintf("%032x", s.uid), "service.name": "shop", "k8s.pod.name": fmt.Sprintf("shop-%d", s.uid), "process.pid": int64(s.uid),
		}),
		ScopeLogs: []*logspb.ScopeLogs{scope},
	}}})
}

// send sends records until there are that many, or the context ends.
func (s *sender) send(ctx context.Context, t *testing.T, records, size int, began time.Time) {
	client := &http.Client{Timeout: 10 * time.Second}
	for first := 0; first < records && ctx.Err() == nil; {
		n := min(size, records-first)
		body, err := s.batch(first, n, began)
		if err != nil {
			t.Error(err)
			return
		}
		if post(client, s.to, body) {
			s.acknowledged.Add(int64(n))
			first += n
			continue
		}
		s.repeated.Add(1)
		time.Sleep(100 * time.Millisecond)
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

// sendAll sends with several processes at a time, and returns how many records were
// acknowledged and how many requests had to be repeated.
func sendAll(ctx context.Context, t *testing.T, to string, processes, records, size int) (acknowledged, repeated int64) {
	t.Helper()
	var all sync.WaitGroup
	senders := make([]*sender, processes)
	began := time.Now().Add(-time.Hour)
	for i := range senders {
		senders[i] = &sender{uid: i, to: to}
		all.Go(func() { senders[i].send(ctx, t, records, size, began) })
	}
	all.Wait()
	for _, s := range senders {
		acknowledged += s.acknowledged.Load()
		repeated += s.repeated.Load()
	}
	return acknowledged, repeated
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

// number reads the size of a test from the environment.
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
	acknowledged, repeated := sendAll(t.Context(), t, to, processes, records/processes, 2000)
	took := time.Since(start)
	collections, named := totals(t, store)
	t.Logf("%d records acknowledged in %v, %d requests repeated", acknowledged, took.Round(time.Millisecond), repeated)
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

	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for _, p := range []*program{server.program, receiver, middle, server.program, receiver} {
			time.Sleep(1500 * time.Millisecond)
			p.kill()
			time.Sleep(700 * time.Millisecond)
			p.start(t)
		}
	}()
	var acknowledged, repeated int64
	began := time.Now().Add(-time.Hour)
	senders := make([]*sender, 8)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for i := range senders {
		senders[i] = &sender{uid: i, to: to}
		all.Go(func() {
			client := &http.Client{Timeout: 10 * time.Second}
			for first := 0; ; first += 20 {
				body, err := senders[i].batch(first, 20, began)
				if err != nil {
					t.Error(err)
					return
				}
				for !post(client, to, body) {
					if ctx.Err() != nil {
						t.Error("records are not taken any more")
						return
					}
					senders[i].repeated.Add(1)
					time.Sleep(50 * time.Millisecond)
				}
				senders[i].acknowledged.Add(20)
				select {
				case <-killed:
					return
				default:
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	for _, s := range senders {
		acknowledged += s.acknowledged.Load()
		repeated += s.repeated.Load()
	}
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
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			time.Sleep(400 * time.Millisecond)
			receiver.kill()
			time.Sleep(200 * time.Millisecond)
			receiver.start(t)
		}
	}()
	acknowledged, repeated := sendAll(t.Context(), t, to, 4, 20_000, 500)
	<-done
	collections, processes := totals(t, store)
	t.Logf("%d records acknowledged, %d requests repeated", acknowledged, repeated)
	if acknowledged != 80_000 || collections != acknowledged || processes != 4 {
		t.Errorf("%d acknowledged, %d of %d processes stored", acknowledged, collections, processes)
	}
}
