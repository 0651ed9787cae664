package report

import (
	"context"
	"errors"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

func openReading(ctx context.Context, t *testing.T) *Reading {
	t.Helper()
	const path = "../../testdata/net10-wks-web-collect.nettrace.gz"
	in, err := open.File(path, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	r := NewReading(ctx, in, "web", []string{path})
	t.Cleanup(r.Close)
	return r
}

// TestReading: a reading counts its collections, and lets the model read ahead in the same
// trace, unless it can be read once only.
func TestReading(t *testing.T) {
	for _, once := range []bool{false, true} {
		r := openReading(t.Context(), t)
		counted, yielded := 0, 0
		r.Once, r.Count = once, func(*gc.Collection) { counted++ }
		var m gc.Model
		for _, err := range r.Collections(&m) {
			if err != nil {
				t.Fatal(err)
			}
			yielded++
		}
		if yielded == 0 || counted != yielded {
			t.Errorf("%d collections, counted as %d", yielded, counted)
		}
		if once != (m.Ahead == nil) {
			t.Fatalf("once %v: the model reads ahead: %v", once, m.Ahead != nil)
		}
		if once {
			continue
		}
		src, err := m.Ahead()
		if err != nil {
			t.Fatal(err)
		}
		for ev, err := range src.Events() {
			if err != nil || !gc.Identifies(ev.Desc) {
				t.Fatalf("event %d, %v", ev.Desc.ID, err)
			}
		}
	}
}

// TestReadingEnds: the end of the context is not an error of the trace, which Fail replaces.
func TestReadingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := openReading(ctx, t)
	r.Fail = func(err error) error { return errors.New("failed: " + err.Error()) }
	cancel()
	var m gc.Model
	var last error
	for _, err := range r.Collections(&m) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("%v", last)
	}
}
