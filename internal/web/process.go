package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/watch"
)

// A process is a running process that pages follow.
type process struct {
	id      int // the watcher's
	process *diag.Process

	mu    sync.Mutex
	live  html.Live
	ended bool
	more  chan struct{} // closed when something is added
}

// take takes in news of the process.
func (p *process) take(n *watch.News) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process = n.Process
	if c := n.Collection; c != nil {
		p.live.Add(c.Start, c.Collection)
	}
	for _, c := range n.Phases {
		p.live.AddPhases(c)
	}
	p.ended = p.ended || n.Ended
	close(p.more)
	p.more = make(chan struct{})
}

// columns returns the data of a page about the process. A header holds the collection
// from which the page requests more.
func (p *process) columns(program string, state json.RawMessage, h http.Header) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.Set("Gctrail-Next", strconv.Itoa(p.live.Next()))
	return p.live.Columns(p.process.Name, program, state, report.Terms(), 0)
}

// maxBatch is how many collections go to a page at once.
const maxBatch = 1000

// rows returns the collections from one on as JSON, the number of the one after them, and
// a channel to wait for if there are none. gone reports that some are no longer retained.
func (p *process) rows(from int) (rows []byte, next int, gone, ended bool, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if from < p.live.First() || from > p.live.Next() {
		return nil, 0, true, p.ended, p.more
	}
	next = min(p.live.Next(), from+maxBatch)
	if next > from {
		rows = p.live.AppendRows(nil, from, next)
	}
	return rows, next, false, p.ended, p.more
}

// phases returns the phases of background collections from one on as JSON, nil if
// there are none, and the number of the next one.
func (p *process) phases(from int) ([]byte, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live.Phases(from)
}

func (p *process) detail(number uint32) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live.Detail(number)
}

// states are the latest states of the processes. They are computed at most once a second,
// however many pages there are.
type states struct {
	watcher *watch.Watcher

	mu   sync.Mutex
	at   time.Time
	json map[int]json.RawMessage // by the watcher's id
}

const fresh = time.Second

// of returns the state of a process as a report.
func (s *states) of(id int) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json == nil || time.Since(s.at) >= fresh {
		all := make(map[int]json.RawMessage)
		for _, w := range s.watcher.Snapshot().Processes {
			totals := report.ProcessTotals{Totals: report.Totals{Count: w.Collections}, PausePct: w.PausedInAll}
			if !w.Attached.IsZero() {
				totals.Watched = report.Millis(w.Until.Sub(w.Attached))
			}
			if pauses, known := w.Pauses.Get(); known {
				totals.Pause, totals.Watched = gc.Some(report.Millis(pauses)), report.Millis(w.Span)
			}
			text, err := report.Live(&w.Result, totals, w.Lost, w.Dropped, w.PID)
			if err != nil {
				return nil, err
			}
			all[w.ID] = text
		}
		s.json, s.at = all, time.Now()
	}
	if text := s.json[id]; text != nil {
		return text, nil
	}
	return report.Live(new(findings.Result), report.ProcessTotals{}, 0, 0, 0)
}
