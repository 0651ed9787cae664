package request_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/open"
)

// read returns the processes of a trace that have spans. More models may read along.
func read(t *testing.T, path string, more ...pass.Model) []*request.Process {
	t.Helper()
	var collections gc.Model
	var model request.Model
	models := append(model.Models(), more...)
	in, err := open.File(path, open.Options{Want: pass.Wants(append(models, &collections)...)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for c, err := range collections.Collections(in.Source, models...) {
		if err != nil {
			t.Fatal(err)
		}
		model.Collected(c)
	}
	return model.Processes(in.Source.Loss())
}

// TestReal: spans are paused by the collections whose numbers they have, for as long as the
// pauses of all collections overlap them.
func TestReal(t *testing.T) {
	const path = "../../testdata/net10-wks-requests.nettrace.gz"
	var pauses []gc.Pause
	var numbers []uint32
	var model gc.Model
	in, err := open.File(path, open.Options{Want: pass.Wants(&model)})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Pauses {
			pauses, numbers = append(pauses, p), append(numbers, c.Number)
		}
	}
	processes := read(t, path)
	if len(processes) != 1 || processes[0].Len != 270 || processes[0].Open != 0 || !processes[0].Serves {
		t.Fatalf("%+v", processes)
	}
	nested, hit := 0, 0
	for s := range processes[0].Spans() {
		end := s.Start + s.Duration.Or(0)
		var paused time.Duration
		var by []uint32
		for i, p := range pauses {
			if common := min(end, p.End()) - max(s.Start, p.Start); common > 0 {
				paused += common
				if len(by) == 0 || by[len(by)-1] != numbers[i] {
					by = append(by, numbers[i])
				}
			}
		}
		if paused != s.Paused || len(by) != len(s.GCs) || len(by) > 0 && by[0] != s.GCs[0] || !s.Complete || s.Suspended != 0 {
			t.Errorf("%v: paused %v by %d, not %v by %d", s.ID, s.Paused, s.GCs, paused, by)
		}
		if paused > 0 {
			hit++
		}
		if s.Nested {
			nested++
		}
	}
	if nested != 30 || hit < 30 {
		t.Errorf("%d spans in others, %d paused", nested, hit)
	}
}

// TestReference compares the spans of a web server with the ones that another program found in
// the same trace.
func TestReference(t *testing.T) {
	folder := filepath.Join(cmp.Or(os.Getenv("GCTRAIL_SHARED"), "../../../shared"), "traces", "requests")
	list, err := os.Open(filepath.Join(folder, "aspnet-wks.spans.jsonl.gz"))
	if err != nil {
		t.Skip("needs the reference traces")
	}
	defer list.Close()
	plain, err := gzip.NewReader(list)
	if err != nil {
		t.Fatal(err)
	}
	processes := read(t, filepath.Join(folder, "aspnet-wks.nettrace.gz"))
	if len(processes) != 1 || processes[0].Open != 3 {
		t.Fatalf("%d processes", len(processes))
	}
	type figures struct {
		Name, Source                       string
		Start, Duration, Paused, Suspended float64
	}
	found := make(map[string]figures)
	for s := range processes[0].Spans() {
		if s.Complete {
			ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
			found[s.TraceID.String()+s.ID.String()] = figures{s.Name, s.Source, ms(s.Start), ms(s.Duration.Or(0)), ms(s.Paused), ms(s.Suspended)}
		}
	}
	lines, compared := bufio.NewScanner(plain), 0
	for lines.Scan() {
		var want struct {
			Trace     string  `json:"trace_id"`
			Span      string  `json:"span_id"`
			Source    string  `json:"source"`
			Name      string  `json:"name"`
			Start     float64 `json:"start_ms"`
			Duration  float64 `json:"duration_ms"`
			Paused    float64 `json:"gc_paused_ms"`
			Suspended float64 `json:"other_suspended_ms"`
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		const rounding = 2e-6
		got := found[want.Trace+want.Span]
		if got.Name != want.Name || got.Source != want.Source || math.Abs(got.Start-want.Start) > rounding || math.Abs(got.Duration-want.Duration) > rounding ||
			math.Abs(got.Paused-want.Paused) > rounding || math.Abs(got.Suspended-want.Suspended) > rounding {
			t.Errorf("%+v, want %+v", got, want)
		}
		compared++
	}
	if compared != 4455 || len(found) != compared {
		t.Errorf("%d spans compared, %d found", compared, len(found))
	}
}
