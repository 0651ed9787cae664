package stats_test

import (
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/open"
)

// TestSumsOnly checks which figures are the same with SumsOnly, and which are not there.
func TestSumsOnly(t *testing.T) {
	in, err := open.File("../../testdata/net10-wks-background-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	whole, sums := new(stats.Summary), &stats.Summary{SumsOnly: true}
	var model gc.Model
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		whole.Add(c)
		sums.Add(c)
	}
	same := func(what string, got, want *stats.Totals) {
		t.Helper()
		a, b := &got.Pause, &want.Pause
		if got.Count != want.Count || got.Freed != want.Freed || got.Suspend != want.Suspend || a.Count() != b.Count() || a.Sum() != b.Sum() || a.Max() != b.Max() {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
		if a.Exact() || a.Percentile(50) != b.Max() {
			t.Errorf("%s: the median is %v, exact: %v", what, a.Percentile(50), a.Exact())
		}
	}
	same("all", sums.All(), whole.All())
	same("gen0", sums.Generation(0), whole.Generation(0))
	same("background", sums.Kind(gc.Background), whole.Kind(gc.Background))
	same("the first reason", sums.Reasons()[0].Totals, whole.Reasons()[0].Totals)
	if whole.All().Count < 10 || whole.Kind(gc.Background).Count == 0 {
		t.Fatalf("%d collections", whole.All().Count)
	}
	if len(sums.Longest) > 0 || len(sums.Timeline.Buckets) > 0 || len(sums.Stalls()) > 0 {
		t.Errorf("there are %d longest collections, %d buckets, %d stalls", len(sums.Longest), len(sums.Timeline.Buckets), len(sums.Stalls()))
	}
}
