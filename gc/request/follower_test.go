package request_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc/request"
)

// TestFollower: a Follower reports the requests of a Model as they end, with the same times.
func TestFollower(t *testing.T) {
	traces := []string{"../../testdata/net10-wks-requests.nettrace.gz"}
	if shared := os.Getenv("GCTRAIL_SHARED"); shared != "" {
		traces = append(traces, filepath.Join(shared, "traces/requests/aspnet-wks.nettrace.gz"))
	}
	for _, path := range traces {
		ended := make(map[request.SpanID]request.Span)
		stopped := make(map[request.SpanID]time.Duration)
		f := request.Follower{
			Ended: func(_ uint64, s *request.Span) { ended[s.ID] = *s },
			Paused: func(_ uint64, from, to time.Duration, s *request.Span) {
				stopped[s.ID] += to - max(from, s.Start)
			},
		}
		for _, p := range read(t, path, f.Models()...) {
			for s := range p.Spans() {
				took, known := s.Duration.Get()
				if !known || !p.IsRequest(s) {
					continue
				}
				of, was := ended[s.ID]
				delete(ended, s.ID)
				if !was || of.Duration.Or(0) != took || of.Paused != s.Paused || of.Suspended != s.Suspended || of.Label() != s.Label() || of.TraceID != s.TraceID || of.Start != s.Start {
					t.Errorf("%s: %+v, expected %+v", path, of, *s)
				}
				if stopped[s.ID] > s.Paused {
					t.Errorf("%s: %v was the longest for %v of pauses, and paused for %v", path, s.ID, stopped[s.ID], s.Paused)
				}
			}
		}
		if len(ended) > 0 || len(stopped) == 0 {
			t.Errorf("%s: %d more requests ended, %d were the longest in pauses", path, len(ended), len(stopped))
		}
	}
}
