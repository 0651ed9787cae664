package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// TestLowerBounds: sums of pauses that may be larger are marked alike in figures, tables
// and Markdown, and what is known for sure is not.
func TestLowerBounds(t *testing.T) {
	var found findings.Set
	for _, p := range []struct {
		pid    uint64
		unseen bool
	}{{7, true}, {8, false}} {
		process := &gc.Process{PID: p.pid, Stopped: 10 * time.Second}
		for i := range 2 {
			c := &gc.Collection{
				Process: process, Number: uint32(i + 1), Complete: true, AllPauses: true, Generation: gc.Some(i), Kind: gc.Blocking,
				Start: gc.Some(time.Duration(i) * time.Second), Pauses: []gc.Pause{{Duration: 200 * time.Millisecond, Suspend: gc.Some(time.Millisecond)}},
			}
			if !p.unseen && i == 0 { // SuspendEEEnd was not enabled
				c.Pauses[0].Suspend = gc.Opt[time.Duration]{}
			}
			if p.unseen && i == 1 {
				c.Pauses, c.AllPauses, c.Complete = nil, false, false
			}
			found.Add(c)
		}
	}
	rep := &Report{info: new(trace.Info), loss: new(trace.Loss)}
	for _, r := range found.Judge(findings.Trace{}) {
		rep.cases = append(rep.cases, Case{Result: r})
	}
	var plain, markdown text.Page
	plain.Width = 200
	rep.Write(&plain)
	rep.WriteMarkdown(&markdown)
	for _, tt := range []struct {
		page *text.Page
		want []string
	}{
		{&plain, []string{
			"Total pause   400 ms  (4.0 % of 10.0 s)",
			"Total pause  >200 ms  (>2.0 % of 10.0 s)",
			"pid 8      2        400   4.0",
			"gen0 blocking      1       200  50.0     200     200     200     200              -",
			"gen1 blocking      1       200  50.0     200     200     200     200           1.00",
			"all                2       400   100     200     200     200     200          >1.00",
			"pid 7      2       >200  >2.0",
			"gen1 blocking      1         -    -",
			"all                2      >200  100",
		}},
		{&markdown, []string{"| paused | 400 ms of 10.0 s (4.0 %) |", "| paused | >200 ms of 10.0 s (>2.0 %) |"}},
	} {
		words := string(tt.page.Bytes())
		for _, want := range tt.want {
			if !strings.Contains(words, want) {
				t.Errorf("lacks %q:\n%s", want, words)
			}
		}
	}
}
