package stats_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/open"
)

// answers returns all that a Process can be asked for.
func answers(p *stats.Summary) string {
	var s []any
	totals := func(t *stats.Totals) {
		c := *t
		c.Pause = stats.Distribution{}
		s = append(s, c, t.PausesUnknown(), t.Pause.Count(), t.Pause.Sum(), t.Pause.Max(), t.Pause.Mean(), t.Pause.Exact())
		for _, percent := range []float64{0, 50, 90, 99, 100} {
			s = append(s, t.Pause.Percentile(percent))
		}
	}
	totals(p.All())
	for g := range 3 {
		totals(p.Generation(g))
		s = append(s, *p.Survival(g))
	}
	for k := gc.KindUnknown; k <= gc.Foreground; k++ {
		totals(p.Kind(k))
	}
	for _, c := range p.Classes() {
		s = append(s, c.Generation, c.Kind)
		totals(c.Totals)
	}
	for _, r := range p.Reasons() {
		s = append(s, r.Reason)
		totals(r.Totals)
	}
	for _, c := range p.Longest {
		s = append(s, c.Number)
	}
	if p.Process != nil {
		until := p.Timeline.Until(p.Process.Stopped)
		s = append(s, until.Buckets, until.Width(), p.Stalls(), p.Watched(), p.PauseShare(), p.AllocationRate())
	}
	return fmt.Sprintf("%+v", append(s, p.Timeline.Buckets, p.Timeline.Width(), p.Heap))
}

// askEarly checks that asking a Process after each collection changes none of its later
// answers.
func askEarly(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, list []*gc.Collection,
) {
	t.Helper()
	var asked stats.Summary
	for n := range list {
		asked.Add(list[n])
		got := answers(&asked)
		var fresh stats.Summary
		for _, c := range list[:n+1] {
			fresh.Add(c)
		}
		if want := answers(&fresh); got != want {
			t.Fatalf("after %d collections, asked before:\n%s\nasked now:\n%s", n+1, got, want)
		}
	}
}

// TestAskingEarly: for every prefix of a trace, asking changes no later answer.
func TestAskingEarly(t *testing.T) {
	for _, name := range []string{
		"net10-wks-background-collect.nettrace.gz", "net10-lossy-handles.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz",
		"net21-win-x86-objver3.netperf.gz", "net8-win-x64-gcevents.etl.zip", "net31-net9-lttng.trace.zip",
	} {
		t.Run(name, func(t *testing.T) {
			in, err := open.File("../../testdata/"+name, open.Options{Want: gc.Wants})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			of := make(map[*gc.Process][]*gc.Collection)
			var model gc.Model
			for c, err := range model.Collections(in.Source) {
				if err != nil {
					t.Fatal(err)
				}
				of[c.Process] = append(of[c.Process], c)
			}
			if len(of) == 0 {
				t.Fatal("no collections")
			}
			for _, list := range of {
				askEarly(t, list)
			}
		})
	}
}

// TestAskingEarlyOfAny is TestAskingEarly for collections of any kind.
func TestAskingEarlyOfAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { askEarly(t, collections(t)) })
}
