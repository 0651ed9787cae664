package fleet

import (
	"fmt"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/otlp"
)

// noon is when the collections of tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A testProcess raises collections of one process.
type testProcess struct {
	uid, service, version, pod string
}

func (p testProcess) resource() map[string]any {
	return map[string]any{
		otlp.UID: p.uid, "service.name": p.service, "service.version": p.version, "k8s.pod.name": p.pod,
		"process.pid": int64(7), "process.executable.name": "app", "host.name": "node-1",
	}
}

// collection returns a collection that follows number-1 others, one each second.
func collection(number int, pause time.Duration) *gc.Collection {
	start := time.Duration(number) * time.Second
	is, since := gc.Exact, gc.Opt[time.Duration]{}
	switch {
	case number%500 == 0:
		is = gc.LowerBound
	case number == 250:
		is = gc.Estimate
	}
	if number > 1 {
		since = gc.Some(time.Second - time.Duration(number-1)*time.Millisecond)
	}
	return &gc.Collection{
		Process: &gc.Process{}, Number: uint32(number), ClrInstance: 9, Generation: gc.Some(number % 3), Kind: gc.Blocking,
		Start: gc.Some(start), Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: start, Duration: pause}}, AllPauses: true,
		HeapAfter: gc.Some(int64(number) << 20), HeapPeak: gc.Some(int64(number) << 21), Complete: true,
		Allocated: gc.Some(int64(1 << 20)), AllocatedQuality: is, SinceLast: since,
	}
}

// logs returns the records of collections first to last, in which pauses grow by 1 ms
// each.
func (p testProcess) logs(first, last int) *logspb.ResourceLogs {
	scope := &logspb.ScopeLogs{}
	for n := first; n <= last; n++ {
		scope.LogRecords = append(scope.LogRecords, otlp.OfCollection(collection(n, time.Duration(n)*time.Millisecond), noon.Add(time.Duration(n)*time.Second)))
	}
	return &logspb.ResourceLogs{Resource: otlp.NewResource(p.resource()), ScopeLogs: []*logspb.ScopeLogs{scope}}
}

func encode(t testing.TB, all ...*logspb.ResourceLogs) []byte {
	t.Helper()
	body, err := proto.Marshal(&logspb.LogsData{ResourceLogs: all})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// pods are processes of two versions of a service.
func pods(n int) []testProcess {
	var all []testProcess
	for i := range n {
		all = append(all, testProcess{fmt.Sprintf("%032x", i), "shop", fmt.Sprintf("1.%d", i%2), fmt.Sprintf("shop-%d", i)})
	}
	return all
}
