package chart_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/chart"
)

func drawn(lines []chart.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimLeft(l.Scale, " ") + l.Picture + "\n")
	}
	return b.String()
}

// TestChart draws a heap that grows to 8 MB before a GC and shrinks to 4 MB, and
// keeps its size where no GC ends.
func TestChart(t *testing.T) {
	points := []chart.Point{
		{Before: gc.Some[int64](8e6), After: gc.Some[int64](4e6), Longest: 10 * time.Millisecond},
		{},
		{After: gc.Some[int64](2e6), Longest: 20 * time.Millisecond},
	}
	tests := []struct {
		chart         chart.Chart
		heap, pauses  string
		title, length string
	}{
		{
			chart.Chart{Points: points, Each: time.Second, Columns: 2, Width: 3, Unicode: true},
			"8.00 MB |⠉\n0 |⣿⣿⣤\n", "20.0 ms |  ⣿\n0 |⣿ ⣿\n", "longest pause per second", "3s",
		},
		{
			chart.Chart{Points: points, Each: 500 * time.Millisecond, Columns: 1, Width: 3, Right: true},
			"8.00 MB | .\n0 | :|\n", "20.0 ms |  :\n0 | ::\n", "longest pause per 500 ms", "1.5s",
		},
	}
	for _, test := range tests {
		if got := drawn(test.chart.Heap(2)); got != test.heap {
			t.Errorf("heap:\n%swant:\n%s", got, test.heap)
		}
		if got := drawn(test.chart.Pauses(2)); got != test.pauses {
			t.Errorf("pauses:\n%swant:\n%s", got, test.pauses)
		}
		if got := test.chart.PauseTitle(); got != test.title {
			t.Errorf("title %q, want %q", got, test.title)
		}
		if got := test.chart.Span().String(); got != test.length {
			t.Errorf("span %s, want %s", got, test.length)
		}
	}
}

// TestEmpty checks that a chart without sizes says so, and draws nothing.
func TestEmpty(t *testing.T) {
	c := chart.Chart{Points: make([]chart.Point, 4), Each: time.Second, Columns: 1, Width: 2}
	if !c.Empty() {
		t.Error("not empty")
	}
	if got, want := drawn(c.Heap(2)), "0 B |\n0 |\n"; got != want {
		t.Errorf("heap %q, want %q", got, want)
	}
}
