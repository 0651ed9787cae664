package html

import (
	"encoding/hex"
	"math"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc/request"
)

// The bounds of a page's requests of a process.
const (
	maxDots   = 8_192 // requests that are shown one by one: the slowest
	maxLabels = 2_000
	// Further requests are counted in cells of times and durations: so many of the time that
	// the trace has, and so many for each tenfold duration.
	cellTimes     = 400
	cellDurations = 12
)

// requests is the page's data about a process's requests.
type requests struct {
	Count   int        `json:"requests"`
	Unended int        `json:"unended"`  // further ones, which have no duration
	LeftOut int        `json:"left_out"` // for which there was no room
	P50     int64      `json:"p50_us"`   // of the ones that are complete
	P99     int64      `json:"p99_us"`
	Running int64      `json:"p99_running_us"` // without pauses
	Slowest tail       `json:"slowest"`
	Labels  []string   `json:"labels"`
	Dots    dots       `json:"dots"`
	Cells   [][4]int64 `json:"cells"` // time and duration, by index; requests, and thousandths of their time that they were paused
	CellUS  int64      `json:"cell_us"`
	Tenth   int        `json:"cells_per_tenfold"` // durations of cells: 10^(index/this) µs and above
}

// A tail is the slowest hundredth of requests.
type tail struct {
	Count     int     `json:"requests"`
	PausedPct float64 `json:"paused_pct"`
}

// dots are requests, by their start.
type dots struct {
	Start  []int64 `json:"start_us"` // the first, and then what each is later than the one before
	Took   []int64 `json:"duration_us"`
	Paused []int64 `json:"gc_paused_us"`
	Label  []int   `json:"label"`
	Traces string  `json:"trace_ids"` // in hexadecimal, one after the other; zeros for none
}

// NewRequests returns the requests of a process that want holds for, nil if there are none. last is
// when the trace ends, and leftOut how many spans it has more than were kept.
func NewRequests(p *request.Process, want func(*request.Span) bool, last time.Duration, leftOut int) *Part {
	all, _ := p.Summaries(want)
	page := &requests{
		LeftOut: leftOut, Labels: []string{}, Cells: [][4]int64{},
		P50: all.Duration.Percentile(50).Microseconds(), P99: all.Duration.Percentile(99).Microseconds(),
		Running: all.Running.Percentile(99).Microseconds(), Slowest: tail{all.Slowest.Count, 100 * all.Slowest.Share()},
		CellUS: max(1, last.Microseconds()/cellTimes+1), Tenth: cellDurations,
		Dots: dots{Start: []int64{}, Took: []int64{}, Paused: []int64{}, Label: []int{}},
	}
	slow := shortestDot(p, want, page)
	if page.Count+page.Unended == 0 {
		return nil
	}
	page.place(p, want, slow)
	return &Part{p.PID, page}
}

// shortestDot counts requests, and returns the duration from which they are shown one by one.
func shortestDot(p *request.Process, want func(*request.Span) bool, page *requests) time.Duration {
	var all []time.Duration
	for s := range p.Spans() {
		switch took, ended := s.Duration.Get(); {
		case !p.IsRequest(s) || !want(s):
		case ended:
			all = append(all, took)
		default:
			page.Unended++
		}
	}
	page.Count = len(all)
	if len(all) <= maxDots {
		return 0
	}
	slices.Sort(all)
	return all[len(all)-maxDots]
}

// place makes dots of the slow requests, and counts the others in cells.
func (page *requests) place(p *request.Process, want func(*request.Span) bool, slow time.Duration) {
	type cell struct{ count, took, paused int64 }
	cells := make(map[[2]int64]*cell)
	labels := make(map[string]int)
	var order [][2]int64
	var traces []byte
	var before int64
	for s := range p.Spans() {
		took, ended := s.Duration.Get()
		if !ended || !p.IsRequest(s) || !want(s) {
			continue
		}
		start := s.Start.Microseconds()
		if took >= slow && len(page.Dots.Start) < maxDots {
			page.Dots.Start = append(page.Dots.Start, start-before)
			page.Dots.Took = append(page.Dots.Took, took.Microseconds())
			page.Dots.Paused = append(page.Dots.Paused, s.Paused.Microseconds())
			page.Dots.Label = append(page.Dots.Label, page.label(labels, s.Label()))
			traces = append(traces, s.TraceID[:]...)
			before = start
			continue
		}
		at := [2]int64{start / page.CellUS, int64(math.Log10(float64(max(1, took.Microseconds()))) * cellDurations)}
		c := cells[at]
		if c == nil {
			c = new(cell)
			cells[at] = c
			order = append(order, at)
		}
		c.count++
		c.took += int64(took)
		c.paused += int64(s.Paused)
	}
	page.Dots.Traces = hex.EncodeToString(traces)
	for _, at := range order {
		c := cells[at]
		page.Cells = append(page.Cells, [4]int64{at[0], at[1], c.count, 1000 * c.paused / max(1, c.took)})
	}
}

// label returns the index of a label, -1 if there is no room for it.
func (page *requests) label(known map[string]int, text string) int {
	i, is := known[text]
	switch {
	case is:
		return i
	case len(page.Labels) == maxLabels:
		return -1
	}
	known[text] = len(page.Labels)
	page.Labels = append(page.Labels, text)
	return known[text]
}
