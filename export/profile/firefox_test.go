package profile_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
)

// TestMarkers checks the markers and counters of one collection.
func TestFirefoxMarkers(t *testing.T) {
	var out bytes.Buffer
	w := profile.NewFirefox(&out, time.Unix(100, 0))
	err := w.Add(&gc.Collection{
		Process: &gc.Process{PID: 7, Name: "web"}, Number: 1, Generation: gc.Some(0), Kind: gc.Blocking, Start: gc.Some(10 * ms), End: gc.Some(14 * ms),
		Pauses:     []gc.Pause{{Kind: gc.PauseBlocking, Start: 9 * ms, Duration: 6 * ms, Suspend: gc.Some(ms)}},
		HeapBefore: gc.Some[int64](1000), HeapAfter: gc.Some[int64](400), CommittedBefore: gc.Some[int64](5000), CommittedAfter: gc.Some[int64](4000),
		Allocated: gc.Some[int64](900),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Threads []struct {
			Markers struct {
				Data               []map[string]any
				StartTime, EndTime []float64
				Phase              []int
			}
		}
		Counters []struct {
			Name    string
			Samples struct {
				Time  []float64
				Count []int64
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Threads) != 1 {
		t.Fatalf("%d threads", len(got.Threads))
	}
	m := got.Threads[0].Markers
	if !reflect.DeepEqual(m.StartTime, []float64{9, 9, 10}) || !reflect.DeepEqual(m.EndTime, []float64{15, 10, 14}) || !reflect.DeepEqual(m.Phase, []int{1, 1, 1}) {
		t.Errorf("markers from %v to %v, phases %v", m.StartTime, m.EndTime, m.Phase)
	}
	if pause := m.Data[0]; pause["type"] != "Pause" || pause["suspend_ms"] != 1.0 || pause["generation"] != "gen0" || pause["number"] != 1.0 || m.Data[1]["type"] != "Suspension" || m.Data[2]["type"] != "GC" {
		t.Errorf("%v", m.Data)
	}
	changes := make(map[string][]int64)
	for _, c := range got.Counters {
		changes[c.Name] = c.Samples.Count
	}
	if want := map[string][]int64{"Heap": {1000, -600}, "Committed": {5000, -1000}, "Allocated": {900}}; !reflect.DeepEqual(changes, want) {
		t.Errorf("counters change by %v, want %v", changes, want)
	}
}
