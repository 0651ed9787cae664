package watch

import (
	"time"

	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/gc/stats"
)

const (
	// requestsWindow is how long requests count after they ended.
	requestsWindow = time.Minute
	// maxServed bounds the requests that are kept of a process, of 40 bytes each.
	maxServed = 1 << 14
)

// Requests are figures over the requests that ended in the last minute, 16,384 at most.
type Requests struct {
	Count     int
	PerSecond float64
	P50, P99  time.Duration
	Running   time.Duration // the 99th percentile without pauses
	Share     float64       // the part of the time of the slowest 1 % that pauses took
}

// A served request has ended.
type served struct {
	at           time.Time
	took, paused time.Duration
}

// requests are the latest ones of a process.
type requests struct{ latest ring[served] }

func (r *requests) add(s *request.Span, now time.Time) {
	r.latest.add(served{now, s.Duration.Or(0), s.Paused}, maxServed)
}

// sum returns the figures up to a time, nil if no request ended in the last minute.
func (r *requests) sum(now, attached time.Time) *Requests {
	var took, running stats.Distribution
	since := now.Add(-requestsWindow)
	if attached.After(since) {
		since = attached
	}
	if l := &r.latest; len(l.all) == maxServed && l.all[l.next].at.After(since) {
		since = l.all[l.next].at // earlier ones are not kept
	}
	each := func(use func(*served)) {
		for i := range r.latest.all {
			if s := &r.latest.all[i]; !s.at.Before(since) {
				use(s)
			}
		}
	}
	sum := new(Requests)
	each(func(s *served) {
		sum.Count++
		took.Add(s.took)
		running.Add(s.took - s.paused)
	})
	if sum.Count == 0 {
		return nil
	}
	if span := now.Sub(since); span > 0 {
		sum.PerSecond = float64(sum.Count) / span.Seconds()
	}
	sum.P50, sum.P99, sum.Running = took.Percentile(50), took.Percentile(99), running.Percentile(99)
	slow := request.Tail{From: sum.P99}
	each(func(s *served) {
		if s.took >= slow.From {
			slow.Total += s.took
			slow.Paused += s.paused
		}
	})
	sum.Share = slow.Share()
	return sum
}
