package perfview_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/perfview"
)

// TestMetrics computes metrics from TraceEvent's own figures of the same trace, as
// GCTraceMetrics.cs does.
func TestMetrics(t *testing.T) {
	const name = "net10-wks-background-collect"
	var run perfview.Run
	var ordered []*perfview.GC
	for _, g := range rebuild(t, traces+name+".nettrace.gz") {
		ordered = append(ordered, g)
	}
	slices.SortFunc(ordered, func(a, b *perfview.GC) int { return int(a.Number) - int(b.Number) })
	for _, g := range ordered {
		run.AddTraceEvent(g)
	}
	run.Watch(10*time.Second, 5*time.Second)
	got := make(map[string]gc.Opt[float64])
	for _, m := range run.Metrics() {
		got[m.Name] = m.Value
	}

	var of struct{ background, gen1, ephemeral, all, before, promoted []float64 }
	for _, r := range readReferences(t, "testdata/"+name+".gcs.jsonl.gz") {
		if !r.Complete {
			continue
		}
		of.all = append(of.all, r.Pause)
		of.before = append(of.before, r.Before)
		of.promoted = append(of.promoted, r.Promoted)
		switch {
		case r.Type == "BackgroundGC":
			of.background = append(of.background, r.Pause)
		case r.Generation == 1:
			of.gen1 = append(of.gen1, r.Pause)
			fallthrough
		case r.Generation == 0:
			of.ephemeral = append(of.ephemeral, r.Pause)
		}
	}
	slices.Sort(of.gen1)
	at := 0.95 * float64(len(of.gen1)-1)
	i := int(at)
	percentile := of.gen1[i] + (at-float64(i))*(of.gen1[i+1]-of.gen1[i])
	for name, want := range map[string]float64{
		"PauseDurationMSec_MeanWhereIsBackground": total(of.background) / float64(len(of.background)),
		"PauseDurationMSec_MeanWhereIsEphemeral":  total(of.ephemeral) / float64(len(of.ephemeral)),
		"PauseDurationMSec_SumWhereIsGen1":        total(of.gen1),
		"PauseDurationMSec_95PWhereIsGen1":        percentile,
		"PauseDurationMSec_Sum":                   total(of.all),
		"HeapSizeBeforeMB_Mean":                   total(of.before) / float64(len(of.before)),
		"Speed_MBPerMSec":                         total(of.promoted) / total(of.all),
		"TotalNumberGCs":                          float64(len(of.all)),
		"CountIsGen1":                             float64(len(of.gen1)),
		"PctTimePausedInGC":                       total(of.all) / 50,
		"ExecutionTimeMSec":                       10_000,
	} {
		if v, known := got[name].Get(); !known || math.Abs(v-want) > 1e-4*math.Abs(want) {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if v := got["PauseDurationMSec_MeanWhereIsBlockingGen2"]; v.Known() {
		t.Errorf("no GC is a blocking gen 2 GC, but their mean pause is %v", v)
	}
}

// TestMetricsOfNothing: a figure without any collection is unknown, counts are zero.
func TestMetricsOfNothing(t *testing.T) {
	var run perfview.Run
	run.Add(&gc.Collection{Number: 1}, nil)
	for _, m := range run.Metrics() {
		if v, known := m.Value.Get(); known && m.Unit != "count" {
			t.Errorf("%s is %v", m.Name, v)
		}
	}
}

func total(of []float64) (sum float64) {
	for _, v := range of {
		sum += v
	}
	return sum
}
