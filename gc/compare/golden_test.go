package compare_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// TestComparisons holds all differences between real traces: of other settings, of another
// runtime, without collections, of several stretches of equal length that stand for runs, and of
// stretches of other lengths.
func TestComparisons(t *testing.T) {
	const (
		web, limited       = "net10-wks-web-collect.nettrace.gz", "net10-wks-hardlimit-web-collect.nettrace.gz"
		server             = "net9-srv-datas-web-collect.nettrace.gz"
		fragment, conserve = "net10-wks-fragment-collect.nettrace.gz", "net10-wks-conserve-fragment-collect.nettrace.gz"
		lossy, idle        = "net10-lossy-handles.nettrace.gz", "net10-wks-uncollected-background.nettrace.gz"
		throttled          = "net10-wks-throttled-collect.nettrace.gz"
	)
	var b strings.Builder
	for _, tt := range []struct {
		name          string
		before, after []*compare.Run
	}{
		{"limit", stretches(t, web, 1), stretches(t, limited, 1)},
		{"server GC", stretches(t, web, 1), stretches(t, server, 1)},
		{"conserving memory", stretches(t, fragment, 1), stretches(t, conserve, 1)},
		{"lost events", stretches(t, lossy, 1), stretches(t, idle, 1)},
		{"throttled", stretches(t, web, 1), stretches(t, throttled, 1)},
		{"three runs", stretches(t, web, 3), stretches(t, limited, 3)},
		{"six runs", stretches(t, web, 6), stretches(t, limited, 6)},
		{"six runs of another length", stretches(t, web, 6), stretches(t, server, 9)},
		{"equal runs", stretches(t, fragment, 6), stretches(t, fragment, 6)},
	} {
		c := compare.Compare(tt.before, tt.after)
		fmt.Fprintf(&b, "%s: %s on basis %v\n", tt.name, c.Verdict, c.Basis)
		for i := range c.Changes {
			ch := &c.Changes[i]
			fmt.Fprintf(&b, "  %s: %s %s, %.6g to %.6g, %.6g %% (%.6g to %.6g, at most %.6g), P %.6g, %d more\n",
				ch.Name, ch.Verdict, ch.Reason, ch.Before, ch.After, ch.Percent, ch.Low, ch.High, ch.AtMost, ch.P, ch.RunsNeeded)
		}
		for _, n := range c.Notes {
			fmt.Fprintf(&b, "  note %s: %s\n", n.Kind, n.Text)
		}
		for _, cause := range c.Causes {
			fmt.Fprintf(&b, "  cause: %s %s, %.6g to %.6g %%\n", cause.Kind, cause.Name, cause.Before, cause.After)
		}
	}
	steps := append(stretches(t, web, 8), stretches(t, server, 8)...)
	for _, n := range []int{compare.MinTrend - 1, len(steps)} {
		trends := compare.Trends(steps[:n])
		fmt.Fprintf(&b, "trends of %d runs: %s\n", n, compare.TrendsVerdict(trends))
		for i := range trends {
			tr := &trends[i]
			fmt.Fprintf(&b, "  %s: %s, %d known, open %v, %.6g\n", tr.Name, tr.Verdict(), tr.Known(), tr.EndUnknown(), tr.Values)
			for _, step := range tr.Steps {
				fmt.Fprintf(&b, "    step at %d: %.6g to %.6g, %.6g %%\n", step.Run, step.Before, step.After, step.Percent)
			}
		}
	}
	extent.Golden(t, "testdata/comparisons.txt", b.String())
}

// stretches returns the stretches of equal length of a trace as runs.
func stretches(t *testing.T, name string, n int) []*compare.Run {
	t.Helper()
	all := read(t, name)
	p := all[0].Process
	runs := make([]*compare.Run, n)
	for i := range runs {
		r := &compare.Run{Name: fmt.Sprintf("%s %d", name, i)}
		if n > 1 {
			length := (p.Stopped - p.Started) / time.Duration(n)
			r.From, r.To = gc.Some(p.Started+time.Duration(i)*length), gc.Some(p.Started+time.Duration(i+1)*length)
		}
		for _, c := range all {
			if at := c.Start.Or(0); at >= r.From.Or(0) && at < r.To.Or(at+1) {
				r.Add(c)
			}
		}
		runs[i] = r
	}
	return runs
}

// read returns the collections of a trace.
func read(t *testing.T, name string) []*gc.Collection {
	t.Helper()
	in, err := open.File(filepath.Join("../../testdata", name), open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var all []*gc.Collection
	var m gc.Model
	for c, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}
