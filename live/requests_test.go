//go:build !windows

package live_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/live"
)

// TestFollowRequests: each pause within requests has one that was open.
func TestFollowRequests(t *testing.T) {
	packed, err := os.ReadFile("../testdata/net10-wks-requests.nettrace.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []bool{true, false} {
		r := &replay{trace: whole}
		pauses, stopped, ended := 0, 0, 0
		served := func(s *request.Span) {
			if ended++; s.Duration.Or(0) == 0 {
				t.Errorf("request %v has no duration", s.ID)
			}
		}
		for u, err := range live.Follow(t.Context(), r.start(t), live.Options{Requests: wanted, Served: served}) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Kind != live.Collected {
				continue
			}
			if wanted && len(u.Paused) != len(u.Collection.Pauses) || !wanted && u.Paused != nil {
				t.Fatalf("GC %d has %d pauses, and %d requests", u.Collection.Number, len(u.Collection.Pauses), len(u.Paused))
			}
			for i, s := range u.Paused {
				pauses++
				if s == nil {
					continue
				}
				stopped++
				if s.Start >= u.Collection.Pauses[i].End() || s.TraceID == (request.TraceID{}) {
					t.Errorf("GC %d stopped %+v", u.Collection.Number, *s)
				}
			}
		}
		if wanted != (ended == 240) {
			t.Errorf("%d requests ended", ended)
		}
		if wanted && (stopped == 0 || stopped > pauses) {
			t.Errorf("%d of %d pauses stopped a request", stopped, pauses)
		}
	}
}
