package request

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc/stats"
)

// A Summary sums up requests. Its figures are of the ones whose spans are complete.
type Summary struct {
	Label    string             // of a Route, or the name of the operation; empty for all
	Count    int                // of complete requests
	Partial  int                // of requests that are not complete; in no other figure
	Hit      int                // of which were paused
	Duration stats.Distribution // of their durations
	Running  stats.Distribution // of their durations without pauses
	Paused   time.Duration      // all of them together
	Slowest  Tail
	// Path is that of the URL of a web server's requests, the ones that take longest together;
	// empty if ASP.NET Core serves none. Only the sum of all has it.
	Path string

	web bool // ASP.NET Core serves them
}

// A Tail is the slowest hundredth of requests, at least one.
type Tail struct {
	From          time.Duration // the least duration among them, their 99th percentile
	Count         int
	Total, Paused time.Duration // of all of them together
	Stalled       int           // in whose time the thread pool began no work although some waited
}

const (
	// PartlyPaused is the share of the slowest requests' time from which pauses are a part of
	// why they are slow.
	PartlyPaused = 0.1
	// MostlyPaused is the share from which pauses are the larger part of that.
	MostlyPaused = 0.5
)

// Share returns the part of the requests' time in which they were paused, from 0 to 1.
func (t *Tail) Share() float64 { return float64(t.Paused) / float64(max(1, t.Total)) }

// maxLabels is how many labels are distinguished.
const maxLabels = 1 << 12

// OtherLabels is the label of the requests beyond the first 4,096 labels.
const OtherLabels = "(others)"

// Summaries sums up the requests of a process that want holds for, all together and by label,
// the label with the longest time in all first.
func (p *Process) Summaries(want func(*Span) bool) (all *Summary, byLabel []*Summary) {
	all = &Summary{}
	of := make(map[string]*Summary)
	partial := 0
	each := func(add func(sum *Summary, s *Span, took time.Duration)) {
		for s := range p.Spans() {
			if !p.IsRequest(s) || !want(s) {
				continue
			}
			if !s.Complete {
				partial++
				continue
			}
			label := s.Label()
			sum := of[label]
			if sum == nil {
				if len(of) >= maxLabels {
					label = OtherLabels
				}
				if sum = of[label]; sum == nil {
					sum = &Summary{Label: label}
					of[label], byLabel = sum, append(byLabel, sum)
				}
			}
			sum.web = sum.web || strings.HasPrefix(s.Source, webServer)
			took := s.Duration.Or(0)
			add(all, s, took)
			add(sum, s, took)
		}
	}
	each(func(sum *Summary, s *Span, took time.Duration) {
		sum.Count++
		sum.Duration.Add(took)
		sum.Running.Add(took - s.Paused)
		sum.Paused += s.Paused
		if s.Paused > 0 {
			sum.Hit++
		}
	})
	all.Partial = partial
	all.Slowest.From = all.Duration.Percentile(99)
	for _, sum := range byLabel {
		sum.Slowest.From = sum.Duration.Percentile(99)
	}
	each(func(sum *Summary, s *Span, took time.Duration) {
		if t := &sum.Slowest; took >= t.From {
			t.Count++
			t.Total += took
			t.Paused += s.Paused
			if s.Stalled > 0 {
				t.Stalled++
			}
		}
	})
	slices.SortStableFunc(byLabel, func(a, b *Summary) int {
		return cmp.Or(cmp.Compare(b.Duration.Sum(), a.Duration.Sum()), cmp.Compare(a.Label, b.Label))
	})
	all.Path = path(byLabel)
	return all, byLabel
}

// webServer begins the names of the sources of ASP.NET Core's spans.
const webServer = "Microsoft.AspNetCore"

// path returns the path of the first requests that ASP.NET Core serves, which is "/" unless
// their label has a path without parameters.
func path(byLabel []*Summary) string {
	for _, sum := range byLabel {
		if !sum.web {
			continue
		}
		if method, path, ok := strings.Cut(sum.Label, " "); ok && method == "GET" && strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "{*") {
			return path
		}
		return "/"
	}
	return ""
}
