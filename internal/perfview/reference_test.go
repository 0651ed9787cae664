package perfview_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/perfview"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
)

// References, NAME.gcs.jsonl.gz, are TraceEvent 3's results for the collections of a
// trace. A few are in testdata; more may lie next to the repository, with their traces.
const (
	inTestdata = "testdata/*.gcs.jsonl.gz"
	traces     = "../../testdata/"
	beside     = "../../../shared/traces/eventpipe/*.gcs.jsonl.gz"
)

// A reference is TraceEvent's result for a collection.
type reference struct {
	PID        uint64         `json:"pid"`
	Number     uint32         `json:"number"`
	Complete   bool           `json:"complete"`
	Reason     string         `json:"reason"`
	Pause      float64        `json:"pause_ms"`
	Start      float64        `json:"pause_start_ms"`
	Suspend    float64        `json:"suspend_ms"`
	Duration   float64        `json:"duration_ms"`
	SinceLast  float64        `json:"since_last_restart_ms"`
	Share      float64        `json:"pause_pct_since_last"`
	Before     float64        `json:"size_before_mb"`
	After      float64        `json:"size_after_mb"`
	Peak       float64        `json:"size_peak_mb"`
	Promoted   float64        `json:"promoted_mb"`
	Allocated  float64        `json:"alloced_mb"`
	Ticks      []float64      `json:"alloced_by_tick_mb"`
	Heaps      int            `json:"num_heaps"`
	Condemned  map[string]int `json:"condemned"`
	Generation int            `json:"generation"`
	Type       string         `json:"type"`
	GenBefore  []*float64     `json:"gen_size_before_mb"`
	GenAfter   []*float64     `json:"gen_size_after_mb"`
	Survival   []*float64     `json:"gen_survival_pct"`
	Free       []*float64     `json:"gen_frag_mb"`
	In         []*float64     `json:"gen_in_mb"`
	Out        []*float64     `json:"gen_out_mb"`
	Survived   []*float64     `json:"gen_promoted_mb"`
	Budget     []*float64     `json:"gen_budget_mb"`
}

// TestAgainstTraceEvent holds every figure to TraceEvent's, to the digits that
// PerfView prints.
func TestAgainstTraceEvent(t *testing.T) {
	few, _ := filepath.Glob(inTestdata)
	more, _ := filepath.Glob(beside)
	if len(few) == 0 {
		t.Fatal("no references")
	}
	for _, path := range append(few, more...) {
		base := strings.TrimSuffix(path, ".gcs.jsonl.gz")
		t.Run(base, func(t *testing.T) {
			if filepath.Dir(base) == "testdata" {
				base = traces + filepath.Base(base)
			}
			name := base + ".nettrace.gz"
			if _, err := os.Stat(name); err != nil {
				name = base + ".netperf.gz"
			}
			compare(t, rebuild(t, name), readReferences(t, path))
		})
	}
}

func rebuild(t *testing.T, path string) map[string]*perfview.GC {
	t.Helper()
	in, err := open.File(path, open.Options{Want: pass.Wants(new(perfview.Model))})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	got := make(map[string]*perfview.GC)
	m := perfview.Model{Done: func(g *perfview.GC) { got[fmt.Sprint(g.PID, " ", g.Number)] = g }}
	if err := pass.Run(t.Context(), in.Source, &m); err != nil {
		t.Fatal(err)
	}
	return got
}

func readReferences(t *testing.T, path string) []reference {
	t.Helper()
	var all []reference
	for line := range bytes.Lines(tracetest.Gunzip(t, path)) {
		var r reference
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// allocated returns PerfView's allocated bytes. The references were taken when each
// collection ended: if a background GC before it had not ended, TraceEvent then used
// allocation ticks, with the LOH's for the POH. PerfView computes them when it has read
// the trace.
func allocated(g *perfview.GC, r, previous *reference) float64 {
	if previous != nil && previous.Type == "BackgroundGC" && previous.Start+previous.Duration > r.Start {
		return r.Ticks[0] + 2*r.Ticks[1]
	}
	return g.Allocated[0] + g.Allocated[3] + g.Allocated[4]
}

// columnsOf are the columns of condemned reasons by TraceEvent's names for them.
var columnsOf = map[string]int{
	"Alloc_Exceeded": 2, "Time_Tuning": 3, "Induced": 4, "Low_Ephemeral": 5, "Expand_Heap": 6, "Fragmented_Ephemeral": 7,
	"Fragmented_Gen1_To_Gen2": 8, "Fragmented_Gen2": 9, "Fragmented_Gen2_High_Mem": 10, "GC_Before_OOM": 11, "Too_Small_For_BGC": 12,
	"Ephemeral_Before_BGC": 13, "Internal_Tuning": 14, "Almost_Max_Alloc": 15,
}

// checkReasons compares the condemned reasons with TraceEvent's, which name only
// generations that were collected, and leave out what all heaps share.
func checkReasons(t *testing.T, g *perfview.GC, r *reference) {
	if r.Condemned == nil || g.Reasons == nil || r.Heaps > 1 && r.Generation == 2 {
		return
	}
	for name, column := range columnsOf {
		v := int(g.Reasons[column])
		shown := v != 0
		if column <= 3 {
			shown = v == g.Generation
		}
		if column == 4 {
			shown = v != 0 && int(g.Reasons[0]) == g.Generation
		}
		if _, want := r.Condemned[name]; want != shown {
			t.Errorf("GC %d: %s %d, TraceEvent %v", g.Number, name, v, r.Condemned)
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func compare(t *testing.T, got map[string]*perfview.GC, want []reference) {
	bad := map[string]int{}
	differ := func(number uint32, what string, got, want float64) {
		if bad[what]++; bad[what] <= 3 {
			t.Errorf("GC %d: %s %v, TraceEvent %v", number, what, got, want)
		}
	}
	complete := 0
	var previous *reference
	for i, r := range want {
		if i > 0 {
			previous = &want[i-1]
		}
		if !r.Complete {
			continue
		}
		complete++
		g := got[fmt.Sprint(r.PID, " ", r.Number)]
		if g == nil {
			differ(r.Number, "missing", 0, 0)
			continue
		}
		for _, of := range []struct {
			what      string
			got, want float64
			digits    int
		}{
			{"pause start", ms(g.PauseStart), r.Start, 3},
			{"pause", ms(g.Pause), r.Pause, 3},
			{"suspend", ms(g.Suspend), r.Suspend, 3},
			{"duration", ms(g.Duration), r.Duration, 3},
			{"since last", ms(g.SinceLast), r.SinceLast, 3},
			{"pause share", g.PauseShare, r.Share, 1},
			{"before", g.HeapBefore, r.Before, 3},
			{"after", g.HeapAfter, r.After, 3},
			{"peak", g.HeapPeak, r.Peak, 3},
			{"promoted", g.Promoted, r.Promoted, 3},
			{"allocated", allocated(g, &r, previous), r.Allocated, 3},
		} {
			if math.Abs(of.got-of.want) > math.Pow10(-of.digits)/2+1e-6 {
				differ(r.Number, of.what, of.got, of.want)
			}
		}
		checkReasons(t, g, &r)
		for _, of := range []struct {
			what string
			got  *[5]float64
			want []*float64
		}{
			{"size before", &g.SizeBefore, r.GenBefore},
			{"size after", &g.SizeAfter, r.GenAfter},
			{"survival", &g.Survival, r.Survival},
			{"free", &g.Free, r.Free},
			{"in", &g.In, r.In},
			{"out", &g.Out, r.Out},
			{"survived", &g.Survived, r.Survived},
			{"budget", &g.Budget, r.Budget},
		} {
			for gen, want := range of.want {
				switch {
				case want == nil && math.IsNaN(of.got[gen]):
				case want == nil || !(math.Abs(of.got[gen]-*want) < 1e-5):
					v := math.NaN()
					if want != nil {
						v = *want
					}
					differ(r.Number, fmt.Sprint(of.what, " of ", gen), of.got[gen], v)
				}
			}
		}
	}
	if complete != len(got) {
		t.Errorf("%d complete collections, TraceEvent has %d", len(got), complete)
	}
	if len(bad) > 0 {
		t.Log(bad)
	}
}

// TestDamage feeds events with bytes changed and left out: every figure stays a
// number or NaN, and nothing grows.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		in, err := open.File(traces+"net9-srv-datas-web-collect.nettrace.gz", open.Options{Want: pass.Wants(new(perfview.Model))})
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		m := perfview.Model{Done: func(g *perfview.GC) {
			for _, columns := range [][]perfview.Column{perfview.Events(), perfview.Generations(), perfview.Condemned()} {
				for i := range columns {
					shown += len(columns[i].Text(g))
				}
			}
		}}
		mPass := pass.New(&m)
		for ev, err := range in.Source.Events() {
			if err != nil {
				t.Fatal(err)
			}
			switch rng.IntN(20) {
			case 0:
				continue
			case 1:
				if len(ev.Payload) > 0 {
					ev.Payload[rng.IntN(len(ev.Payload))] ^= byte(1 + rng.IntN(255))
				}
			case 2:
				ev.Payload = ev.Payload[:rng.IntN(len(ev.Payload)+1)]
			}
			mPass.Feed(ev)
		}
		mPass.End(in.Source.Loss())
		in.Close()
		if shown == 0 {
			t.Fatal("no collection is left")
		}
	}
}
