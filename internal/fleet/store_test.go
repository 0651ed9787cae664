package fleet

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/otlp"
)

func TestFolder(t *testing.T) { checkStore(t, &Folder{Path: t.TempDir()}) }

// checkStore stores collections of ten pods, half of them twice, and asks for them.
func checkStore(t *testing.T, store Store) {
	t.Helper()
	r := receiver(store, "")
	for i, p := range pods(10) {
		body := encode(t, p.logs(1, 100*(i+1)))
		for range 1 + i%2 {
			if w := post(r, body); w.Code != http.StatusOK {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
		}
	}
	everything := &Filter{}

	groups, err := Top(t.Context(), store, everything, []string{"service_version"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 2 || groups[0].Names[0] != "1.1" || groups[0].Processes != 5 || groups[0].Collections != 200+400+600+800+1000 {
		t.Fatalf("groups %+v", groups)
	}
	g := groups[0]
	pause := time.Duration(0)
	for _, n := range []int{200, 400, 600, 800, 1000} {
		pause += time.Duration(n*(n+1)/2) * time.Millisecond
	}
	// From the end of each first collection to that of the last.
	watched := time.Duration(200+400+600+800+1000-5) * (time.Second + time.Millisecond)
	if g.Pause != gc.SumOf(pause, 3000, false) || g.Longest != time.Second || g.Watched != watched || g.Allocated != gc.Some[int64](3000<<20) || g.AllocatedIs != gc.Estimate || g.HeapAfter != 1000<<20 || g.Gen2 != 67+133+200+267+333 {
		t.Errorf("group %+v, want pause %v, watched %v", g, pause, watched)
	}
	if !g.First.Equal(noon.Add(time.Second)) || !g.Last.Equal(noon.Add(1000*time.Second)) {
		t.Errorf("from %v to %v", g.First, g.Last)
	}
	// The shortest 2,970 of the 3000 pauses of 1 ms, 2 ms, … are up to 970 ms long.
	if p99 := g.P99.Seconds() * 1000; math.Abs(p99-970) > 0.02*970 {
		t.Errorf("p99 %.1f ms, want 970", p99)
	}

	checkWatched(t, store)

	for _, test := range []struct {
		where string
		want  int64
	}{
		{"k8s_pod=shop-3", 400},
		{"k8s_pod=shop-*", 5500},
		{"k8s_pod!=shop-9", 4500},
		{"k8s_pod=*9", 1000},
		{"k8s_pod=shop_9", 0},
		{"pause_ms>=900", 101 + 1},
		{"generation=2", 33 + 67 + 100 + 133 + 167 + 200 + 233 + 267 + 300 + 333},
		{"complete=true", 5500},
		{"service_name=", 0},
		{"promoted_bytes>=0", 0},
	} {
		term, err := ParseTerm(Collections(), test.where)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := Top(t.Context(), store, &Filter{Where: []Term{term}}, nil, 10)
		if err != nil {
			t.Fatalf("%s: %v", test.where, err)
		}
		got := int64(0)
		for _, g := range groups {
			got += g.Collections
		}
		if got != test.want {
			t.Errorf("%s: %d collections, want %d", test.where, got, test.want)
		}
	}

	minute := &Filter{From: noon.Add(60 * time.Second), To: noon.Add(120 * time.Second)}
	groups, err = Top(t.Context(), store, minute, []string{"k8s_pod"}, 3)
	if err != nil || len(groups) != 3 || groups[0].Collections != 60 {
		t.Errorf("a minute: %+v, %v", groups, err)
	}

	rows, err := Latest(t.Context(), store, Collections(), everything, 5)
	if err != nil || len(rows) != 5 {
		t.Fatalf("latest: %d rows, %v", len(rows), err)
	}
	for i, row := range rows {
		if got := Collections().Value(row, "number").Int; got != int64(1000-i) {
			t.Errorf("row %d is number %d", i, got)
		}
		if got := Collections().Value(row, "promoted_bytes"); got.Type != 0 {
			t.Errorf("an unknown figure is %+v", got)
		}
	}

	runs, err := Runs(t.Context(), store, everything, 4)
	if err != nil || len(runs) != 4 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	// The first collection, of 1 ms, only begins the watched time; the last pauses for 1
	// s.
	if runs[0].Collections != 999 || runs[0].Name != "shop-9 app (7)" || runs[0].Watched() != 1000*time.Second-time.Millisecond {
		t.Errorf("run %s: %d collections in %v", runs[0].Name, runs[0].Collections, runs[0].Watched())
	}
	for _, m := range compare.Metrics() {
		if got := m.Bounds(runs[0], compare.PerRun).Low; m.Name == "heap_peak_bytes" && got != 2000<<20 {
			t.Errorf("the largest heap is %.0f bytes, want the peak of GC 1000", got)
		}
	}

	checkEnds(t, store, r)
	checkUnknownPauses(t, store)
}

// checkEnds stores how two processes ended.
func checkEnds(t *testing.T, store Store, r *Receiver) {
	t.Helper()
	for i, p := range pods(2) {
		end := &otlp.End{Cause: "oom_killed", Memory: "native", RSS: gc.Some(int64(512 << 20)), Heap: gc.Some(int64(210 << 20))}
		logs := &logspb.ResourceLogs{Resource: otlp.NewResource(p.resource()), ScopeLogs: []*logspb.ScopeLogs{{LogRecords: []*logspb.LogRecord{
			otlp.OfEnd(end, noon.Add(time.Duration(i)*time.Minute)),
		}}}}
		for range 2 {
			if w := post(r, encode(t, logs)); w.Code != http.StatusOK {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
		}
	}
	rows, err := Latest(t.Context(), store, Ends(), &Filter{}, 10)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d ends, %v", len(rows), err)
	}
	for name, want := range map[string]string{"k8s_pod": "shop-1", "cause": "oom_killed", "memory": "native", "rss_bytes": "536870912", "native_bytes": ""} {
		if got := Text(Ends().Value(rows[0], name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestJoin stores many small batches of the same rows, and expects few files and no
// row twice.
func TestJoin(t *testing.T) {
	f := &Folder{Path: t.TempDir()}
	r := receiver(f, "")
	p := pods(1)[0]
	for i := range 3 * joinFiles {
		if w := post(r, encode(t, p.logs(i, i+5))); w.Code != http.StatusOK {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
	files, err := filepath.Glob(filepath.Join(f.Path, "gc", "day=20260301", "*"))
	if err != nil || len(files) > joinFiles {
		t.Errorf("%d files, %v", len(files), err)
	}
	groups, err := Top(t.Context(), f, &Filter{}, nil, 1)
	if err != nil || len(groups) != 1 || groups[0].Collections != 3*joinFiles+5 {
		t.Errorf("groups %+v, %v", groups, err)
	}
}

// TestCheck: the remains of a killed receiver are removed, and nothing else.
func TestCheck(t *testing.T) {
	f := &Folder{Path: t.TempDir()}
	if w := post(receiver(f, ""), encode(t, pods(1)[0].logs(1, 5))); w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	stored := filepath.Join(f.Path, "gc", "day=20260301", "*")
	before, err := filepath.Glob(stored)
	if err != nil || len(before) != 1 {
		t.Fatalf("%v, %v", before, err)
	}
	left := filepath.Join(filepath.Dir(before[0]), ".x.parquet.0123456789ab.gctrail-part")
	if err := os.WriteFile(left, []byte("PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadDir(filepath.Dir(left)); len(after) != 1 {
		t.Errorf("%v, %v", after, err)
	}
	if top, err := os.ReadDir(f.Path); len(top) != 1 {
		t.Errorf("%v, %v", top, err)
	}
}

// TestDamagedFolder has a truncated or foreign file next to a sound one: answers have the
// rows of the sound one, and the other one is reported.
func TestDamagedFolder(t *testing.T) {
	path := t.TempDir()
	to := receiver(&Folder{Path: path}, "")
	store := func(from, to int, r *Receiver) {
		t.Helper()
		if w := post(r, encode(t, pods(1)[0].logs(from, to))); w.Code != http.StatusOK {
			t.Fatalf("status %d", w.Code)
		}
	}
	store(1, 5, to)
	store(6, 8, to)
	files, _ := filepath.Glob(filepath.Join(path, "gc", "*", "*"))
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{whole[:len(whole)-9], whole[:3], nil, []byte("something else that is long enough")} {
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		f := &Folder{Path: path}
		groups, err := Top(t.Context(), f, &Filter{}, nil, 1)
		if err != nil || len(groups) != 1 || groups[0].Collections != 3 {
			t.Errorf("%d bytes: %v, %v", len(damaged), groups, err)
		}
		if d := f.Damaged(); len(d) != 1 || d[0].File != files[0] {
			t.Errorf("%d bytes: damaged are %v", len(damaged), d)
		}
	}

	// Rows are stored and joined in spite of the damage, and the file stays.
	for n := range 2 * joinFiles {
		store(10+n, 10+n, to)
	}
	if left, _ := filepath.Glob(filepath.Join(path, "gc", "*", "*")); len(left) > joinFiles || !slices.Contains(left, files[0]) {
		t.Errorf("%d files, with the damaged one: %v", len(left), slices.Contains(left, files[0]))
	}
	f := &Folder{Path: path}
	groups, err := Top(t.Context(), f, &Filter{}, nil, 1)
	if err != nil || len(groups) != 1 || groups[0].Collections != 3+2*joinFiles {
		t.Errorf("after joins: %v, %v", groups, err)
	}
}

// checkUnknownPauses: a sum of pauses of which one is unknown is a lower bound, and one of
// which all are is unknown.
func checkUnknownPauses(t *testing.T, store Store) {
	t.Helper()
	p := testProcess{strings.Repeat("e", 32), "lossy", "1.0", "lossy-0"}
	unknown := collection(2, 0)
	unknown.Pauses, unknown.AllPauses = nil, false
	logs := p.logs(1, 1)
	logs.ScopeLogs[0].LogRecords = append(logs.ScopeLogs[0].LogRecords, otlp.OfCollection(unknown, noon.Add(2*time.Second)))
	if w := post(receiver(store, ""), encode(t, logs)); w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	for where, want := range map[string]gc.Sum[time.Duration]{
		"number>=1": gc.SumOf(time.Millisecond, 1, true),
		"number=1":  gc.SumOf(time.Millisecond, 1, false),
		"number=2":  gc.SumOf[time.Duration](0, 0, true),
	} {
		f := &Filter{}
		for _, s := range []string{"service_name=lossy", where} {
			term, err := ParseTerm(Collections(), s)
			if err != nil {
				t.Fatal(err)
			}
			f.Where = append(f.Where, term)
		}
		groups, err := Top(t.Context(), store, f, nil, 1)
		if err != nil || len(groups) != 1 || groups[0].Pause != want {
			t.Errorf("%s: %+v, %v; want a pause of %v", where, groups, err, want)
		}
	}
}

// checkWatched selects parts of the collections, whose first follows another.
func checkWatched(t *testing.T, store Store) {
	t.Helper()
	for _, test := range []struct {
		where          []string
		pause, watched time.Duration
		share          float64
		is             gc.Certainty
	}{
		// shop-9 is watched from the end of GC 899 to the end of GC 1000, shop-8 during
		// GC 900.
		{[]string{"pause_ms>=900"}, 96_850 * time.Millisecond, 101_101*time.Millisecond + 1_001*time.Millisecond, 100 * 96.85 / 102.102, gc.LowerBound},
		{[]string{"k8s_pod=shop-8", "pause_ms>=900"}, 900 * time.Millisecond, 1001 * time.Millisecond, 100 * 900 / 1001.0, gc.Exact},
		{[]string{"k8s_pod=shop-0"}, 5050 * time.Millisecond, 99 * 1001 * time.Millisecond, 100 * 5.049 / 99.099, gc.Exact},
		{[]string{"k8s_pod=shop-2"}, 45150 * time.Millisecond, 299 * 1001 * time.Millisecond, 100 * 45.149 / 299.299, gc.Estimate},
	} {
		f := &Filter{}
		for _, where := range test.where {
			term, err := ParseTerm(Collections(), where)
			if err != nil {
				t.Fatal(err)
			}
			f.Where = append(f.Where, term)
		}
		groups, err := Top(t.Context(), store, f, nil, 1)
		if err != nil || len(groups) != 1 {
			t.Fatalf("%v: %d groups, %v", test.where, len(groups), err)
		}
		g := groups[0]
		if share := g.PauseShare().Or(0); g.Pause.Opt() != gc.Some(test.pause) || g.Watched != test.watched || math.Abs(share-test.share) > 0.01 || g.AllocatedIs != test.is {
			t.Errorf("%v: paused %v of %v (%.2f %%), allocated %v; want %v of %v (%.2f %%), %v",
				test.where, g.Pause, g.Watched, share, g.AllocatedIs, test.pause, test.watched, test.share, test.is)
		}
	}
}
