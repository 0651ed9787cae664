package openmetrics_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/export/openmetrics"
	"github.com/gctrail/gctrail/gc"
)

// collection returns one that ends at a time, with a pause of some length, and sizes in
// hundreds of bytes.
func collection(of *gc.Process, number uint32, end, pause time.Duration, hundreds int64) *gc.Collection {
	return &gc.Collection{
		Process: of, Number: number, Generation: gc.Some(1), Kind: gc.Blocking, Start: gc.Some(end - pause), End: gc.Some(end),
		Pauses: []gc.Pause{{Start: end - pause, Duration: pause}}, Allocated: gc.Some(hundreds * 100),
		CommittedBefore: gc.Some(hundreds*100 + 1), CommittedAfter: gc.Some(hundreds*100 + 2),
		Generations: []gc.Generation{{Name: "gen0", After: gc.Some(hundreds*100 + 3), Fragmentation: gc.Some(hundreds*100 + 4)}},
	}
}

// TestPoints checks the points of two collections: as they are a second after the first
// point, and at the end of the process.
func TestPoints(t *testing.T) {
	process := &gc.Process{PID: 7, Name: "web", Runtime: ".NET 10.0.0", Stopped: 2 * time.Second}
	var out bytes.Buffer
	w := openmetrics.NewWriter(&out, time.Unix(100, 250e6))
	for _, c := range []*gc.Collection{
		collection(process, 1, 500*time.Millisecond, time.Millisecond, 1),
		collection(process, 2, 1250*time.Millisecond, 2*time.Millisecond, 2),
	} {
		if err := w.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(out.String(), "\n")
	const who = `{process="web",pid="7",runtime=".NET 10.0.0"`
	const gen0, pauses = who + `,dotnet_gc_heap_generation="gen0"} `, who + `,dotnet_gc_heap_generation="gen1",gc_kind="blocking"`
	for _, want := range []string{
		"dotnet_gc_pause_time_seconds_total" + who + "} 0.001 101.500",
		"dotnet_gc_pause_time_seconds_total" + who + "} 0.003 102.250",
		"dotnet_gc_heap_total_allocated_bytes_total" + who + "} 100 101.500",
		"dotnet_gc_heap_total_allocated_bytes_total" + who + "} 300 102.250",
		"dotnet_gc_last_collection_heap_size_bytes" + gen0 + "103 101.500",
		"dotnet_gc_last_collection_heap_size_bytes" + gen0 + "203 102.250",
		"dotnet_gc_last_collection_heap_fragmentation_size_bytes" + gen0 + "204 102.250",
		"dotnet_gc_last_collection_memory_committed_size_bytes" + who + "} 202 102.250",
		"dotnet_gc_pause_duration_seconds_bucket" + pauses + `,le="0.0005"} 0 102.250`,
		"dotnet_gc_pause_duration_seconds_bucket" + pauses + `,le="0.001"} 1 102.250`, // the bound is in it
		"dotnet_gc_pause_duration_seconds_bucket" + pauses + `,le="0.0025"} 2 102.250`,
		"dotnet_gc_pause_duration_seconds_bucket" + pauses + `,le="+Inf"} 2 102.250`,
		"dotnet_gc_pause_duration_seconds_count" + pauses + "} 2 102.250",
		"dotnet_gc_pause_duration_seconds_sum" + pauses + "} 0.003 102.250",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// TestThinned checks that points get twice as far apart where a process has more than
// 8,192 of them.
func TestThinned(t *testing.T) {
	process := &gc.Process{PID: 7, Name: "web"}
	var out bytes.Buffer
	w := openmetrics.NewWriter(&out, time.Unix(0, 0))
	for i := range 8200 {
		if err := w.Add(&gc.Collection{Process: process, Number: uint32(i + 1), End: gc.Some(time.Duration(i) * time.Second), CommittedAfter: gc.Some[int64](1)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var at []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "dotnet_gc_last_collection_memory_committed_size_bytes{") {
			at = append(at, strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]))
		}
	}
	if n := len(at); n < 4096 || n > 4110 || !slices.Equal(at[:3], []string{"2.000", "4.000", "6.000"}) || at[n-3] != "8196.000" || at[n-2] != "8198.000" {
		t.Errorf("%d points: %v … %v", n, at[:min(n, 5)], at[max(0, n-5):])
	}
}
