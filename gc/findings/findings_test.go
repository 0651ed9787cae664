package findings_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/open"
)

func find(found []findings.Finding, id string) *findings.Finding {
	for i := range found {
		if found[i].ID == id {
			return &found[i]
		}
	}
	return nil
}

// whole checks that the findings of a process have all that a reader needs.
func whole(t *testing.T, where string, found []findings.Finding) {
	t.Helper()
	for i, f := range found {
		if f.Title == "" || f.Description == "" || len(f.Evidence) == 0 || len(f.Advice)+len(f.Settings) == 0 {
			t.Errorf("%s: %s lacks something: %+v", where, f.ID, f)
		}
		if !strings.HasSuffix(f.Description, ".") || strings.Contains(f.Description, "NaN") || strings.Contains(f.Description, "%!") {
			t.Errorf("%s: %s says %q", where, f.ID, f.Description)
		}
		for _, text := range append(slices.Clone(f.Advice), f.Description) {
			if strings.Contains(text, "--") || strings.Contains(text, "gctrail") || strings.Contains(text, "dotnet-") {
				t.Errorf("%s: %s names a command: %q", where, f.ID, text)
			}
		}
		for _, e := range f.Evidence {
			if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) || e.Value < 0 {
				t.Errorf("%s: %s: %s is %v", where, f.ID, e.Name, e.Value)
			}
		}
		if len(f.Collections) > f.Shown {
			t.Errorf("%s: %s shows %v of %d", where, f.ID, f.Collections, f.Shown)
		}
		for _, s := range f.Settings {
			if !strings.HasPrefix(s.Value, "0x") || s.Effect == "" || s.Cost == "" || (s.Property == "") != (s.JSON == "") {
				t.Errorf("%s: %s: setting %+v", where, f.ID, s)
			}
		}
		if i > 0 && found[i-1].ID != "R01" && f.Severity > found[i-1].Severity {
			t.Errorf("%s: %s comes after %s", where, f.ID, found[i-1].ID)
		}
	}
}

func TestVerdicts(t *testing.T) {
	busy := func(c *gc.Collection) { hurting(c); c.Generations[0].Out = 5 * mb }
	for _, tt := range []struct {
		history  history
		want     string
		innocent bool
	}{
		{calm(), "Pauses took 0.5 % of the time (budget: 5 %), the longest 5.00 ms (budget: 100 ms): the GC is innocent.", true},
		{calm().with(func(_ int, c *gc.Collection) { busy(c) }), "Pauses took 12.0 % of the time (budget: 5 %); too many young objects survive.", false},
		{calm().with(func(i int, c *gc.Collection) {
			if i == 40 {
				pause(c, 250*time.Millisecond, 0)
			}
		}), "Pauses lasted up to 250 ms (budget: 100 ms)", false},
		{assembled["R28"].there(), "Pauses took 0.5 % of the time, the longest 5.00 ms: within budget, but objects in gen 2, the LOH and the POH keep growing.", false},
		{lossy(), "No verdict: events were lost; the recorded GC pauses took 500 ms", false},
		{calm().with(func(i int, c *gc.Collection) {
			busy(c)
			if i == 0 { // began before the trace
				c.Pauses, c.AllPauses = nil, false
			}
		}), "Pauses took at least 1", false},
		{calm().with(func(i int, c *gc.Collection) {
			if i == 0 {
				c.Pauses, c.AllPauses = nil, false
			}
		}), "Pauses took at least 0.5 % of the time (budget: 5 %), the longest 5.00 ms (budget: 100 ms): the GC is innocent. Pauses of 1 of 100 GCs may be missing: they took at most ", true},
		{calm().with(func(i int, c *gc.Collection) { c.AllPauses = i%2 == 0 }), "No verdict: pauses of 50 of 100 GCs may be missing: they took from 0.2 % to 50.2 % of the time (budget: 5 %).", false},
		{calm().with(func(i int, c *gc.Collection) { c.AllPauses = i != 50 }), "No verdict: pauses of 1 of 100 GCs may be missing: the longest took from 5.00 ms to 1.00 s (budget: 100 ms).", false},
		{history{process: gc.Process{Stopped: 104 * time.Millisecond}, n: 1, every: 50 * time.Millisecond}, "No verdict: 1 GC in 104 ms is too little to judge by; pauses took 4.8 % of the time (budget: 5 %), the longest 5.00 ms.", false},
		{calm().sampled(time.Minute), "Pauses took 0.5 % of the time (budget: 5 %), the longest 5.00 ms, but threads were suspended outside GCs for 60.0 % of the time, by CPU samples.", false},
		{calm().with(func(_ int, c *gc.Collection) { busy(c) }).sampled(time.Minute), "too many young objects survive. Threads were suspended outside GCs for 60.0 % of the time, by CPU samples.", false},
		{unrecorded(), "No verdict: the trace did not record GCStart", false},
		{history{process: gc.Process{Stopped: time.Second}, n: 1, every: time.Second}.with(func(_ int, c *gc.Collection) {
			c.Pauses, c.AllPauses = nil, false
		}), "No verdict: no GC in this trace has a complete pause.", false},
	} {
		r := tt.history.judged()
		if !strings.Contains(r.Verdict, tt.want) {
			t.Errorf("verdict %q, want %q", r.Verdict, tt.want)
		}
		if got := len(r.Findings) > 0 && r.Findings[0].ID == "R01"; got != tt.innocent {
			t.Errorf("%s: innocent is %v, want %v", tt.want, got, tt.innocent)
		}
	}
}

func lossy() history {
	h := calm().with(func(i int, c *gc.Collection) { c.AffectedByLoss = i%10 == 0 })
	h.trace.Loss.Events = 1234
	return h
}

func unrecorded() history {
	h := calm()
	h.trace.StartsUnrecorded = true
	return h
}

// TestLowerBounds: a finding that quotes a total pause as a lower bound is marked so, and
// then the finding that nothing is wrong is not certain.
func TestLowerBounds(t *testing.T) {
	unseen := func(i int, c *gc.Collection) {
		if i == 0 {
			c.Pauses, c.AllPauses = nil, false
		}
	}
	for _, tt := range []struct {
		id, want string
		history  history
		bound    bool
	}{
		{"R01", "GC pauses took 0.5 % of the time", calm(), false},
		{"R01", "GC pauses took at least 0.5 % of the time", calm().with(unseen), true},
		{"R02", "GC pauses took 12.0 s: 12.0 % of ", calm().with(func(_ int, c *gc.Collection) { hurting(c) }), false},
		{"R02", "GC pauses took at least 11.", calm().with(func(i int, c *gc.Collection) {
			hurting(c)
			unseen(i, c)
		}), true},
	} {
		f := find(tt.history.judged().Findings, tt.id)
		if f == nil || !strings.HasPrefix(f.Description, tt.want) {
			t.Errorf("%s is %+v, want %q", tt.id, f, tt.want)
			continue
		}
		if tt.id == "R01" && (f.Confidence < findings.High) != tt.bound {
			t.Errorf("%s: %v confidence: %s", tt.id, f.Confidence, f.Description)
		}
	}
}

// TestBudget checks that innocence follows the budget.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		budget, want string
		innocent     bool
	}{
		{"5%", "(budget: 5 %)", true},
		{"0.4%", "Pauses took 0.5 % of the time (budget: 0.4 %)", false},
		{"4ms", "Pauses lasted up to 5.00 ms (budget: 4.00 ms)", false},
		{"6ms,1%", "the longest 5.00 ms (budget: 6.00 ms)", true},
	} {
		budget, err := findings.ParseBudget(tt.budget)
		if err != nil {
			t.Fatal(err)
		}
		h := calm()
		r := h.judgedBy(findings.Options{Budget: budget})
		if !strings.Contains(r.Verdict, tt.want) || strings.Contains(r.Verdict, "innocent") != tt.innocent {
			t.Errorf("budget %s: %s", tt.budget, r.Verdict)
		}
		if again, err := findings.ParseBudget(budget.String()); err != nil || again.String() != budget.String() {
			t.Errorf("budget %s is read as %s: %v", budget, again, err)
		}
	}
	for _, s := range []string{"", "5", "-1%", "101%", "NaN%", "0ms", "-5ms", "5 apples", "5%,"} {
		if b, err := findings.ParseBudget(s); err == nil {
			t.Errorf("%q is read as %v", s, b)
		}
	}
}

// TestQuotesTheWorst checks that a finding names the most expensive collections.
func TestQuotesTheWorst(t *testing.T) {
	h := calm().with(func(i int, c *gc.Collection) {
		pause(c, time.Duration(101+i*7%100)*time.Millisecond, 0)
	})
	var want []int
	for i := range h.n {
		want = append(want, i)
	}
	slices.SortFunc(want, func(a, b int) int { return b*7%100 - a*7%100 })
	f := find(h.judged().Findings, "R03")
	if f == nil || f.Shown != h.n {
		t.Fatalf("%+v", f)
	}
	for i, n := range f.Collections {
		if int(n) != want[i]+1 {
			t.Errorf("collections %v, want those after %v", f.Collections, want[:len(f.Collections)])
			break
		}
	}
}

// TestStartup checks that a program is judged by the time after its start.
func TestStartup(t *testing.T) {
	h := calm().with(func(i int, c *gc.Collection) {
		if i < 20 {
			pause(c, 60*time.Millisecond, 0)
		}
	})
	h.every = 100 * time.Millisecond
	h.process.Stopped = 10 * time.Second
	r := h.judged()
	if !strings.Contains(r.Verdict, "Pauses took 16.0 % of the time, and 5.00 % after start-up") &&
		find(r.Findings, "R85") == nil {
		t.Errorf("%s\n%+v", r.Verdict, r.Findings)
	}
}

// TestEarlierFindings checks that judging changes no later result, and that the memory of
// findings does not grow with the collections.
func TestEarlierFindings(t *testing.T) {
	h := calm().with(func(i int, c *gc.Collection) {
		old(i, c)
		c.Handles = gc.Some(int64(500 + 100*i))
	})
	var asked findings.Set
	for i := range h.n {
		asked.Add(h.collection(i))
		asked.Judge(h.trace)
	}
	if got, want := asked.Judge(h.trace)[0], h.judged(); got.Verdict != want.Verdict || !reflect.DeepEqual(got.Findings, want.Findings) {
		t.Errorf("%s, want %s", got.Verdict, want.Verdict)
	}
}

// TestSnapshots checks that a Set recognizes a process by its snapshots, because live
// collections have these.
func TestSnapshots(t *testing.T) {
	in, err := open.File("../../testdata/"+web, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var s findings.Set
	var m gc.Model
	n := 0
	for c, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		c.Process = c.Process.Snapshot().Snapshot()
		s.Add(c)
		n++
	}
	results := s.Judge(findings.TraceOf(in.Source))
	if len(results) != 1 || results[0].Summary.All().Count != n || !s.Has(m.Processes()[0]) || s.Has(new(gc.Process)) {
		t.Errorf("%d processes, want one with %d collections", len(results), n)
	}
}

// TestUntil checks that a long time without collections lowers a process's share of pauses, and
// that judging it changes nothing.
func TestUntil(t *testing.T) {
	h := calm().with(func(_ int, c *gc.Collection) { hurting(c) })
	s := h.set(findings.Options{})
	later := h.trace
	later.Until = gc.Some(10 * h.process.Stopped)
	first, idle, again := s.Judge(h.trace)[0], s.Judge(later)[0], s.Judge(h.trace)[0]
	share, less := first.PauseShare().Or(0), idle.PauseShare().Or(0)
	if share <= 0 || math.Abs(share-10*less) > 0.001 || again.PauseShare() != first.PauseShare() || again.Verdict != first.Verdict {
		t.Errorf("%v %%, after a long time %v %%, then %v", share, less, again.PauseShare())
	}
}

// TestConstantWork checks that a refresh costs no more after many collections.
func TestConstantWork(t *testing.T) {
	allocs := func(n int) float64 {
		h := calm()
		h.n, h.process.Stopped = n, time.Duration(n)*time.Second
		s := h.set(findings.Options{})
		return testing.AllocsPerRun(10, func() { s.Judge(h.trace) })
	}
	if few, many := allocs(1000), allocs(30_000); many > few {
		t.Errorf("%v allocations after 30,000 collections, %v after 1,000", many, few)
	}
}

// BenchmarkFindings measures a refresh after 30,000 collections.
func BenchmarkFindings(b *testing.B) {
	h := calm().with(old)
	h.n, h.process.Stopped = 30_000, 30_000*time.Second
	s := h.set(findings.Options{})
	b.ReportAllocs()
	for b.Loop() {
		s.Judge(h.trace)
	}
}

// TestDetails: a finding about large objects names the type with most bytes in the LOH,
// not the one with most bytes of all.
func TestDetails(t *testing.T) {
	h := calm().with(func(i int, c *gc.Collection) {
		c.Reason, c.Generation = gc.Some(clr.GCReasonAllocLarge), gc.Some(2)
		c.Generations[3].Freed = gc.Some(int64(mb))
		if i%2 == 0 {
			c.Reason = gc.Some(clr.GCReasonInduced)
		}
	})
	h.every, h.process.Stopped = 50*time.Millisecond, 5*time.Second
	details := findings.Details{
		Types: []findings.AllocatedType{
			{Name: "System.String", Heap: alloc.Small, Share: 90, Estimate: alloc.Estimate{Bytes: 9 * mb}},
			{Name: "System.Byte[]", Heap: alloc.Large, Share: 61, Estimate: alloc.Estimate{Bytes: 4 * mb}, From: "ResponseBuffer.Grow()", FromBytes: 3 * mb},
		},
		Collects: []findings.Caller{{Method: "Cache.Trim()", Count: 100}, {Method: "Program.Main()", Count: 1}},
	}
	judged := h.judgedBy(findings.Options{Details: func(*gc.Process) findings.Details { return details }})
	said := ""
	for _, f := range judged.Findings {
		said += f.ID + ": " + f.Description + "\n"
	}
	for _, want := range []string{
		"System.Byte[]: 61.0 % of LOH allocation, from ResponseBuffer.Grow() (75.0 % of it).",
		"Called from: Cache.Trim() (100 times), Program.Main() (1 time). Not every call started a GC in this trace.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "System.String") {
		t.Errorf("a type of another heap is named:\n%s", said)
	}
}

// TestQuotedObjects: findings about handles, pins and finalizers name the ones in the
// trace.
func TestQuotedObjects(t *testing.T) {
	details := findings.Details{
		Handles: []findings.OpenHandles{
			{Kind: clr.HandleKindDependent, Created: 1000, Open: 900, From: gc.Some("Cache.Add()"), FromOpen: gc.Some(int64(450))},
			{Kind: clr.HandleKindStrong, Created: 500, Open: 100},
		},
		Pins:       []findings.PinnedType{{Name: gc.Some("System.Byte[]"), Pins: 95, Bytes: 117 * mb, Share: 95, ByHandle: gc.Some(int64(95))}},
		PinnedFrom: "Socket.Read()",
		Finalized:  []findings.FinalizedType{{Name: gc.Some("App.File"), Count: 80, Share: 80}, {Name: gc.Some("App.Lock"), Count: 20, Share: 20}},
	}
	h := calm().with(func(i int, c *gc.Collection) {
		c.Handles = gc.Some(int64(1000 + 200*i))
		c.PinnedObjects, c.FinalizationPromotedObjs = gc.Some(int64(5000)), gc.Some(int64(5000))
	})
	h.every, h.process.Stopped = 50*time.Millisecond, 5*time.Second
	judged := h.judgedBy(findings.Options{Details: func(*gc.Process) findings.Details { return details }})
	found := map[string]findings.Finding{}
	for _, f := range judged.Findings {
		found[f.ID] = f
	}
	for id, want := range map[string]string{
		"R50": "900 of the 1,000 handles left open in the trace are Dependent, created by Cache.Add() (50.0 % of them).",
		"R44": "System.Byte[]: 95.0 % of the pins (117 MB), 100 % of them by GC handles, most of which Socket.Read() creates.",
		"R51": "App.File: 80.0 % of the finalized objects.",
	} {
		if f := found[id]; !strings.Contains(f.Description, want) {
			t.Errorf("%s does not say %q: %s", id, want, f.Description)
		}
	}
	if len(found["R50"].Handles) != 2 || len(found["R44"].Pins) != 1 || len(found["R51"].Finalized) != 2 {
		t.Errorf("quoted %v, %v, %v", found["R50"].Handles, found["R44"].Pins, found["R51"].Finalized)
	}
}

// TestLOHThreshold: R24 proposes the smallest threshold above nearly all of the sampled
// large objects, and none if their sizes are unknown.
func TestLOHThreshold(t *testing.T) {
	h := calm().with(func(_ int, c *gc.Collection) {
		c.Reason, c.Generation = gc.Some(clr.GCReasonAllocLarge), gc.Some(2)
		c.Generations[3].Freed = gc.Some(int64(mb))
	})
	h.every, h.process.Stopped = 50*time.Millisecond, 5*time.Second
	for _, tt := range []struct {
		below    []float64
		says     string
		proposed string
	}{
		{[]float64{95, 100, 100, 100, 100}, "95.0 % of the sampled LOH allocation is in objects below 200,000 bytes", "0x30D40"},
		{[]float64{75, 89, 91, 100, 100}, "91.0 % of the sampled LOH allocation is in objects below 1,000,000 bytes", "0xF4240"},
		{[]float64{0, 100, 100, 100, 100}, "Or raise GCLOHThreshold", "0x7A120"},
		{[]float64{0, 10, 10, 10, 10}, "10.0 % of the sampled LOH allocation is in objects below 500,000 bytes", "0x7A120"},
		{[]float64{0, 9.9, 9.9, 9.9, 9.9}, "would not help", ""},
		{[]float64{0, 0, 0, 0, 0}, "would not help", ""},
		{nil, "Check the sizes before raising", ""},
	} {
		judged := h.judgedBy(findings.Options{Details: func(*gc.Process) findings.Details {
			return findings.Details{LargeBelow: tt.below}
		}})
		fired := false
		for _, f := range judged.Findings {
			if f.ID != "R24" {
				continue
			}
			fired = true
			if said := f.Description + "\n" + strings.Join(f.Advice, "\n"); !strings.Contains(said, tt.says) {
				t.Errorf("%v: nothing says %q:\n%s", tt.below, tt.says, said)
			}
			proposed := ""
			for _, s := range f.Settings {
				proposed = s.Value
			}
			if proposed != tt.proposed {
				t.Errorf("%v: settings %v, want %s", tt.below, f.Settings, tt.proposed)
			}
		}
		if !fired {
			t.Errorf("%v: R24 does not fire", tt.below)
		}
	}
}

// TestRetainsAll checks that a finding has all collections that show it if they are to be
// retained, and the latest of them if they are many.
func TestRetainsAll(t *testing.T) {
	h := calm().with(func(i int, c *gc.Collection) {
		if i%3 == 0 {
			pause(c, 150*time.Millisecond, 0)
		}
	})
	for _, retain := range []int{0, 5, 1000} {
		f := find(h.judgedBy(findings.Options{Retain: retain}).Findings, "R03")
		if f == nil {
			t.Fatal("no finding")
		}
		var want []uint32
		for i := 0; i < h.n; i += 3 {
			want = append(want, uint32(i+1))
		}
		if f.Shown != len(want) {
			t.Errorf("%d GCs show it, want %d", f.Shown, len(want))
		}
		if want = want[max(0, len(want)-retain):]; !slices.Equal(f.All, want) {
			t.Errorf("retaining %d: %v, want %v", retain, f.All, want)
		}
	}
}
