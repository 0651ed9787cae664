package stats_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// TestSummaries holds the figures of real traces: of workstation and server GC, of a
// background GC, without suspensions, with lost events, and of several processes.
func TestSummaries(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{
		"net10-wks-web-collect.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz", "net10-wks-background-collect.nettrace.gz",
		"net10-lossy-handles.nettrace.gz", "net10-wks-induced-collect.nettrace.gz", "net8-win-x64-gcevents.etl.zip", "net31-net9-lttng.trace.zip",
	} {
		in, err := open.File(filepath.Join("../../testdata", name), open.Options{Want: gc.Wants})
		if err != nil {
			t.Fatal(err)
		}
		var model gc.Model
		byProcess := make(map[gc.Identity]*summed)
		var all []*summed
		for c, err := range model.Collections(in.Source) {
			if err != nil {
				t.Fatal(err)
			}
			s := byProcess[c.Process.Identity()]
			if s == nil {
				s = &summed{Summary: stats.Summary{Process: c.Process}}
				byProcess[c.Process.Identity()] = s
				all = append(all, s)
			}
			s.Add(c)
			s.worst.Add(c)
			s.ranked.Add(c)
		}
		for _, s := range all {
			s.AddOutside(s.Process.Outside)
			fmt.Fprintf(&b, "%s, %s\n", name, s.Process.Name)
			s.write(&b)
		}
		in.Close()
	}
	// Processors differ in the last digits of a quotient.
	rounded := regexp.MustCompile(`\d+\.\d{10,}`).ReplaceAllStringFunc(b.String(), func(s string) string {
		v, _ := strconv.ParseFloat(s, 64)
		return strconv.FormatFloat(v, 'f', 9, 64)
	})
	extent.Golden(t, "testdata/summaries.txt", rounded)
}

// A summed is a process with all that this package knows of it.
type summed struct {
	stats.Summary
	worst  stats.Bottlenecks
	ranked stats.Ranking
}

func (s *summed) write(b *strings.Builder) {
	line := func(name string, values ...any) {
		fmt.Fprintf(b, "  %s:", name)
		for _, v := range values {
			fmt.Fprintf(b, " %+v", v)
		}
		b.WriteByte('\n')
	}
	totals := func(name string, t *stats.Totals) {
		if t == nil || t.Count == 0 {
			return
		}
		line(name, t.Count, t.Incomplete, t.Affected, t.Doubtful, t.Induced, t.HeapDumps, t.PausesUnknown(), t.PauseAtLeast(), t.TotalPause(), t.TotalSuspend())
		line(name+", pauses", t.Pause.Count(), t.Pause.Sum(), t.Pause.Mean(), t.Pause.Max(), t.Pause.Percentile(50), t.Pause.Percentile(90), t.Pause.Percentile(99), t.Pause.Exact())
		for i, bytes := range []*stats.Bytes{&t.Allocated, &t.Freed, &t.Promoted} {
			line(fmt.Sprintf("%s, bytes %d", name, i), bytes.Sum, bytes.Certainty(), bytes.Min(), bytes.Max(), bytes.Per(time.Second))
		}
	}
	totals("all", s.All())
	for _, c := range s.Classes() {
		totals(fmt.Sprintf("generation %v, %v", c.Generation, c.Kind), s.Class(c.Generation.Or(3), c.Kind))
	}
	for _, r := range s.Reasons() {
		totals(fmt.Sprintf("reason %v", r.Reason), r.Totals)
	}
	for i := range gc.NumGenerations {
		line(fmt.Sprintf("survival of %d", i), *s.Survival(i), s.Survival(i).Percent())
	}
	least, most, longest := s.PauseBounds(true)
	line("share", s.Watched(), s.PauseShare(), least, most, longest)
	allocated := s.Allocated()
	line("allocated", allocated.Sum, allocated.Certainty(), s.AllocationRate())
	line("heap", s.Heap)
	line("stalls", s.Stalls(), s.Suspended())
	bottlenecks, n := s.worst.All()
	for i := range bottlenecks {
		line("bottleneck", n, bottlenecks[i].From, bottlenecks[i].To, bottlenecks[i].Length(), bottlenecks[i].MutatorUtilization())
	}
	for _, c := range s.Longest {
		d, known := stats.Divide(c)
		part, pct, timed := stats.Mostly(c)
		line(fmt.Sprintf("GC %d", c.Number), d, known, part, pct, timed, stats.Roots(c))
	}
	for _, p := range []float64{1, 50, 99} {
		of, longer, known := s.ranked.Percentile(p)
		line(fmt.Sprintf("rank of %g %%", p), of, longer, known, s.ranked.Count())
	}
	line("timeline", s.Timeline.Width())
	for _, bucket := range s.Timeline.Buckets {
		line("  bucket", bucket)
	}
}
