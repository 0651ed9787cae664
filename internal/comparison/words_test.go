package comparison

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/text"
)

func metric(name string) *compare.Metric {
	for _, m := range compare.Metrics() {
		if m.Name == name {
			return &m
		}
	}
	panic("no metric " + name)
}

func TestSummary(t *testing.T) {
	c := &compare.Comparison{Changes: []compare.Change{
		{Metric: metric("allocated_bytes"), Verdict: compare.Changed, Percent: 12.34},
		{Metric: metric("collections"), Verdict: compare.Changed, Percent: -50},
		{Metric: metric("gen0_collections"), Verdict: compare.Changed, Percent: -50},
		{Metric: metric("pause_pct"), Verdict: compare.Same},
		{Metric: metric("pause_p99_ms"), Verdict: compare.CannotTell, Reason: compare.TooFewPauses, RunsNeeded: 4},
		{Metric: metric("heap_after_mean_bytes"), Verdict: compare.CannotTell, Reason: compare.NotRecorded},
	}}
	const want = "Changed: allocated per run 12 % more, collections per run 50 % less; the same: GC pause time; " +
		"cannot tell: p99 pause (4 more runs a side needed), heap after collections (not recorded in every run)."
	if got := Summary(c); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMagnitude(t *testing.T) {
	for _, test := range []struct {
		percent float64
		want    string
	}{{5.25, "5.2 % more"}, {-5, "5.0 % less"}, {150, "150 % more"}, {900, "10 times as much"}, {math.Inf(1), "from 0 to 7"}} {
		ch := compare.Change{Metric: metric("gen2_collections"), Percent: test.percent, After: compare.Exactly(7)}
		if got := magnitude(&ch); got != test.want {
			t.Errorf("%v: %q, want %q", test.percent, got, test.want)
		}
	}
}

func TestFigures(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for got, want := range map[string]string{
		Signed(nan): "-", Signed(inf): "+∞", Signed(-inf): "-∞", Signed(3): "+3.0 %", Signed(-30): "-30 %", Signed(1900): "20 times", Signed(137_000): "1,370 times",
		figure(nan, compare.Bytes): "-", figure(1e300, compare.Count): "1,000,000,000,000,000", figure(0.25, compare.Count): "0.25",
		figure(12, compare.Count): "12", figure(1.5, compare.Percent): "1.5 %",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, test := range []struct {
		low, high float64
		want      string
	}{{-inf, inf, ""}, {-5, 12, "-5.0 to +12 %"}, {100, 1900, "2 to 20 times"}, {-100, 137_000, "0 to 1,370 times"}, {0.01, 0.02, "+0.0 %"}, {1900, 1900, "20 times"}} {
		if got := Interval(test.low, test.high); got != test.want {
			t.Errorf("interval %v to %v: %q, want %q", test.low, test.high, got, test.want)
		}
	}
}

// Estimates and lower bounds have the marks of reports.
func TestBounded(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		bounds compare.Bounds
		unit   compare.Unit
		want   string
	}{
		{compare.Exactly(2e6), compare.Bytes, "2.00 MB"},
		{compare.Bounds{Low: 2e6, High: 2.004e6, Likely: 2.002e6}, compare.Bytes, "2.00 MB"},
		{compare.Bounds{Low: 2e6, High: 2.2e6, Likely: 2.1e6}, compare.Bytes, "~2.10 MB"},
		{compare.Bounds{Low: 2e6, High: inf, Likely: 2.1e6}, compare.Bytes, "~2.10 MB"},
		{compare.Bounds{Low: 2e6, High: 2.2e6}, compare.Bytes, ">2.00 MB"},
		{compare.Bounds{Low: 2e6, High: inf}, "bytes_per_second", ">2.00 MB"},
		{compare.Exactly(math.NaN()), compare.Bytes, "-"},
	} {
		if got := bounded(c.bounds, c.unit); got != c.want {
			t.Errorf("%+v: %q, want %q", c.bounds, got, c.want)
		}
	}
}

func TestSparkline(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		values []float64
		want   string
	}{{nil, ""}, {[]float64{1, 1}, "▅▅"}, {[]float64{0, nan, 7}, "▁ █"}, {make([]float64, 100), strings.Repeat("▅", widestSparkline)}} {
		if got := sparkline(test.values, true); got != test.want {
			t.Errorf("%v: %q, want %q", test.values, got, test.want)
		}
	}
	if got := sparkline([]float64{0, 1, 2}, false); got != "_-^" {
		t.Errorf("without Unicode: %q", got)
	}
}

// A metric that cannot be judged says why, whatever the reason.
func TestUndecided(t *testing.T) {
	for reason, want := range map[compare.Reason]string{
		compare.Decided: "", compare.EndUnknown: endUnknown, compare.NotRecorded: "not recorded in every run", compare.TooFewPauses: "too few pauses",
		compare.TooFewRuns: "too few runs", compare.TooNoisy: "the runs vary too much", compare.ParentDecides: "no clear change of GC pause time",
	} {
		ch := compare.Change{Metric: metric("pause_mean_ms"), Verdict: compare.CannotTell, Reason: reason, Percent: 198, Low: 100, High: 286}
		c := &compare.Comparison{Changes: []compare.Change{ch}}
		if row := table(c)[0]; row[len(row)-1] != want {
			t.Errorf("%s: %q, want %q", reason, row, want)
		}
	}
}

func TestTrendSummary(t *testing.T) {
	labels := make([]string, 12)
	for i := range labels {
		labels[i] = fmt.Sprint("build-", i)
	}
	nan := math.NaN()
	trend := func(name string, values ...float64) compare.Trend {
		return compare.Trend{Metric: metric(name), Values: values, Most: values, Likely: values}
	}
	level := make([]float64, 12)
	changed := trend("collections", level...)
	changed.Steps = []compare.Step{{Run: 5, Percent: 20}}
	half := slices.Clone(level)
	for i := range 6 {
		half[i] = nan
	}
	for _, test := range []struct {
		runs   int
		trends []compare.Trend
		want   string
	}{
		{6, []compare.Trend{trend("pause_pct", level[:6]...)}, "Cannot tell: finding a change takes at least 10 runs, not 6."},
		{9, []compare.Trend{changed}, "Collections per run +20 % from build-5 on; cannot tell: finding a change takes at least 10 runs, not 9."},
		{12, []compare.Trend{trend("pause_pct", level...)}, "No change over 12 runs."},
		{12, []compare.Trend{trend("pause_pct", level...), trend("pause_p99_ms", half...)}, "No change over 12 runs; cannot tell: p99 pause (recorded in 6 runs, 10 needed)."},
		{12, []compare.Trend{trend("pause_p99_ms", nan)}, "Cannot tell: p99 pause (not recorded)."},
		{12, []compare.Trend{changed, trend("gen0_collections", half...)}, "Collections per run +20 % from build-5 on."},
	} {
		if got := trendSummary(labels[:test.runs], test.trends); got != test.want {
			t.Errorf("%d runs:\ngot  %s\nwant %s", test.runs, got, test.want)
		}
	}
}

// Names from files cannot be markup.
func TestMarkdownIsInert(t *testing.T) {
	p := text.PageOn(text.Terminal{})
	c := &compare.Comparison{
		Changes: []compare.Change{{Metric: metric("allocated_bytes"), Verdict: compare.Same}},
		Causes:  []compare.Cause{{Kind: "reason", Name: "a|b<script>`\n*x*"}},
	}
	WriteMarkdown(p, c)
	if got := p.String(); !strings.Contains(got, `| reason a\|b&lt;script&gt;'?\*x\* | 0 | 0 |`) {
		t.Error(got)
	}
}
