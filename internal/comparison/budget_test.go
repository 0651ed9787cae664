package comparison

import (
	"encoding/json"
	"encoding/xml"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
)

// run returns a run of a hundred collections that pause as long as given.
func run(name string, pause time.Duration, allocated int64) *compare.Run {
	r := &compare.Run{Name: name}
	process := &gc.Process{Stopped: 10 * time.Second}
	for i := range 100 {
		start := time.Duration(i) * 100 * time.Millisecond
		r.Add(&gc.Collection{
			Process: process, Number: uint32(i + 1), Generation: gc.Some(0),
			Start: gc.Some(start), Pauses: []gc.Pause{{Start: start, Duration: pause}}, AllPauses: true,
			Allocated: gc.Some(allocated), HeapAfter: gc.Some(int64(50e6)), Promoted: gc.Some(int64(1e6)),
		})
	}
	r.Allocated = gc.Some(compare.Exactly(float64(100 * allocated)))
	return r
}

func TestParseBudget(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"whole", "version: 1\nlimits:\n  pause_max_ms: 50\n  allocated_bytes_per_second: 2e8\nbaseline:\n  allocated_bytes: 3\nfindings: [R21]\ncannot_tell: fail\n", ""},
		{"only a version", "version: 1", ""},
		{"empty", "", "version is 0, want 1"},
		{"newer", "version: 2", "version is 2, want 1"},
		{"unknown key", "version: 1\nlimit: {}", "line 2: field limit not found"},
		{"unknown metric", "version: 1\nlimits: {pauses: 1}", `unknown metric "pauses"; valid metrics: allocated_bytes,`},
		{"rate of a percentile", "version: 1\nlimits: {pause_p99_ms_per_second: 1}", "unknown metric"},
		{"rate of a change", "version: 1\nbaseline: {allocated_bytes_per_second: 1}", "write allocated_bytes;"},
		{"negative", "version: 1\nlimits: {pause_max_ms: -1}", "a limit must be 0 or more"},
		{"not a number", "version: 1\nlimits: {pause_max_ms: .nan}", "a limit must be 0 or more"},
		{"infinite", "version: 1\nbaseline: {pause_pct: .inf}", "an allowance must be a percentage"},
		{"text", "version: 1\nlimits: {pause_max_ms: long}", "cannot unmarshal"},
		{"no rule", "version: 1\nfindings: [slow]", `written as R21, not "slow"`},
		{"cannot_tell", "version: 1\ncannot_tell: maybe", `"pass" or "fail"`},
		{"amount of work", "version: 1\nwork: 4000\nlimits: {allocated_bytes_per_work: 5}", ""},
		{"expression of work", "version: 1\nwork: 'requests: (\\d+)'", ""},
		{"no group", "version: 1\nwork: 'requests'", "has no group for the number"},
		{"no expression", "version: 1\nwork: '('", "missing closing )"},
		{"no work", "version: 1\nwork: 0", "must be above 0"},
		{"change by work", "version: 1\nbaseline: {allocated_bytes_per_work: 1}", "write allocated_bytes;"},
		{"no YAML", "version: [1", "not a budget"},
		{"too large", strings.Repeat("#", MaxBudgetSize+1), "at most"},
	} {
		_, err := ParseBudget([]byte(test.text))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
}

// A budget made from runs is kept by them, survives being written, and is broken
// by a run that pauses longer: twice as long in all, or far longer once.
func TestBudgetFromRuns(t *testing.T) {
	ok := run("ok.nettrace", 2*time.Millisecond, 1e6)
	text, err := BudgetFromRuns([]*compare.Run{ok, ok, ok, ok, ok}).YAML()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseBudget(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if _, bounded := b.Limits["committed_peak_bytes"]; bounded {
		t.Error("a figure that the run lacks has a limit")
	}
	if r := b.Check([]*compare.Run{ok}, nil); r.Status != Within || r.Failed() {
		t.Errorf("the run itself is %s: %+v", r.Status, r.Checks)
	}
	for pause, over := range map[time.Duration][]string{
		4 * time.Millisecond:  {"pause_pct"},
		40 * time.Millisecond: {"pause_pct", "pause_max_ms"},
	} {
		slow := b.Check([]*compare.Run{ok, run("slow.nettrace", pause, 1e6)}, nil)
		if !slow.Failed() {
			t.Errorf("pauses of %v are within", pause)
		}
		for _, c := range slow.Checks {
			if want := c.Run == "slow.nettrace" && slices.Contains(over, c.Name); (c.Status == Over) != want {
				t.Errorf("%v: %s of %s is %s", pause, c.Name, c.Run, c.Status)
			}
		}
	}
}

func TestRoundUp(t *testing.T) {
	for _, test := range []struct {
		v    float64
		unit compare.Unit
		want float64
	}{
		{0, compare.Milliseconds, 0},
		{0.01234, compare.Milliseconds, 0.0124},
		{53.41, compare.Milliseconds, 53.5},
		{7, compare.Count, 7},
		{7.2, compare.Count, 8},
		{123456789, compare.Bytes, 124000000},
	} {
		if got := roundUp(test.v, test.unit); math.Abs(got-test.want) > 1e-9*test.want {
			t.Errorf("roundUp(%v, %s) = %v, want %v", test.v, test.unit, got, test.want)
		}
	}
}

func TestForbiddenFindings(t *testing.T) {
	b := &Budget{Version: BudgetVersion, Findings: []string{"R21"}}
	r := run("a", time.Millisecond, 1)
	if got := b.Check([]*compare.Run{r}, nil); got.Failed() {
		t.Errorf("no finding: %+v", got)
	}
	r.Findings = []string{"R02", "R21"}
	if got := b.Check([]*compare.Run{r}, nil); !got.Failed() {
		t.Errorf("finding R21: %+v", got)
	}
}

// TestUnknownMetric: an unknown metric is neither within nor over, and fails only on request.
func TestUnknownMetric(t *testing.T) {
	b := &Budget{Version: BudgetVersion, Limits: map[string]float64{"committed_peak_bytes": 1}}
	r := []*compare.Run{run("a", time.Millisecond, 1)}
	if got := b.Check(r, nil); got.Status != CannotTell || got.Failed() {
		t.Errorf("%s, failed %v", got.Status, got.Failed())
	}
	b.CannotTell = "fail"
	if got := b.Check(r, nil); !got.Failed() {
		t.Error("cannot_tell: fail does not fail")
	}
}

func TestCheckBaseline(t *testing.T) {
	b := &Budget{Version: BudgetVersion, Baseline: map[string]float64{"allocated_bytes": 3}}
	runs := func(allocated float64) (all []*compare.Run) {
		for i := range 5 {
			all = append(all, run("a", time.Millisecond, int64(allocated*(1+0.001*float64(i)))))
		}
		return all
	}
	for _, test := range []struct {
		after float64
		want  CheckStatus
	}{{1e6, Within}, {0.5e6, Within}, {1.1e6, Over}, {1.031e6, CannotTell}} {
		if got := b.Check(runs(test.after), runs(1e6)); got.Status != test.want {
			t.Errorf("%.3g instead of 1e6 bytes: %s, want %s: %+v", test.after, got.Status, test.want, got.Checks)
		}
	}
}

func hostileResult() *CheckResult {
	b := &Budget{Version: BudgetVersion, Limits: map[string]float64{"pause_max_ms": 1, "committed_peak_bytes": 1, "collections": 200}}
	return b.Check([]*compare.Run{run("a|b`<script>\n::error::%", 2*time.Millisecond, 1)}, nil)
}

func TestWriteCheck(t *testing.T) {
	for format, want := range map[string][]string{
		"text":     {"Over the budget: 1 of 3 checks over, 1 inconclusive", "OVER          longest pause 2.00 ms, limit 1.00 ms", "inconclusive  most committed unknown, limit 1 B"},
		"github":   {"::error title=GC budget::longest pause 2.00 ms, limit 1.00 ms (a|b`<script>?::error::%25)\n", "::warning title=GC budget::most committed", "::notice title=GC budget::Over"},
		"markdown": {"| OVER | longest pause | 2.00 ms | 1.00 ms | a\\|b'&lt;script&gt;?::error::% |\n"},
	} {
		var b strings.Builder
		if err := WriteCheck(&b, format, hostileResult()); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s lacks %q:\n%s", format, w, b.String())
			}
		}
	}
	if err := WriteCheck(nil, "yaml", hostileResult()); err == nil || !strings.Contains(err.Error(), "valid formats: text, json,") {
		t.Errorf("unknown format: %v", err)
	}
}

func TestWriteOneCheck(t *testing.T) {
	var b strings.Builder
	one := &Budget{Version: BudgetVersion, Limits: map[string]float64{"pause_max_ms": 1}}
	if err := WriteCheck(&b, "text", one.Check([]*compare.Run{run("a", 2*time.Millisecond, 1)}, nil)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "Over the budget: 1 of 1 check over\n") {
		t.Errorf("got %q", b.String())
	}
}

func TestWriteCheckJSON(t *testing.T) {
	var b strings.Builder
	if err := WriteCheck(&b, "json", hostileResult()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Status CheckStatus
		Failed bool
		Checks []struct {
			Name   string
			Status CheckStatus
			Value  *float64
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != Over || !got.Failed || len(got.Checks) != 3 {
		t.Errorf("%+v", got)
	}
	for _, c := range got.Checks {
		if (c.Value == nil) != (c.Name == "committed_peak_bytes") {
			t.Errorf("%s has the value %v", c.Name, c.Value)
		}
	}
	if strings.Count(b.String(), "\n") != 1 {
		t.Error("not one line")
	}
}

func TestWriteCheckJUnit(t *testing.T) {
	var b strings.Builder
	if err := WriteCheck(&b, "junit", hostileResult()); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if len(got.Suites) != 1 || got.Suites[0].Tests != 3 || got.Suites[0].Failures != 1 || got.Suites[0].Skipped != 1 {
		t.Errorf("%+v", got)
	}
}

func FuzzParseBudget(f *testing.F) {
	f.Add([]byte("version: 1\nlimits:\n  pause_max_ms: 50\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ParseBudget(data)
		if err != nil {
			return
		}
		text, err := b.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseBudget(text); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	})
}

// TestLostEvents: a metric that lost events may have put over a limit is not within it.
func TestLostEvents(t *testing.T) {
	b := &Budget{Limits: map[string]float64{"gen2_collections": 2}, Findings: []string{"R02"}}
	for name, c := range map[string]struct {
		affected, holes bool
		collections     int
		want            CheckStatus
	}{
		"nothing lost":              {false, false, 1, Within},
		"a collection affected":     {true, false, 1, CannotTell},
		"holes":                     {false, true, 1, CannotTell},
		"holes, and over the limit": {false, true, 3, Over},
	} {
		r := &compare.Run{Name: "lossy", Holes: c.holes}
		for n := range c.collections {
			r.Add(&gc.Collection{Process: &gc.Process{}, Number: uint32(n + 1), Generation: gc.Some(2), AffectedByLoss: c.affected})
		}
		got := b.Check([]*compare.Run{r}, nil)
		if got.Status != c.want {
			t.Errorf("%s: %s, want %s", name, got.Status, c.want)
		}
		for _, check := range got.Checks {
			if c.holes && check.Name == "R02" && check.Status != CannotTell {
				t.Errorf("%s: the finding is %s", name, check.Status)
			}
		}
	}
}
