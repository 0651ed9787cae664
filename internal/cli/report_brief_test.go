package cli

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/report"
)

// The JSON of a report is brief, names what it leaves out, and keeps what an agent
// asks for first.
func TestBriefReport(t *testing.T) {
	t.Parallel()
	traces, err := filepath.Glob("../../testdata/*.[net]*z*")
	if err != nil || len(traces) < 10 {
		t.Fatalf("%d traces (%v)", len(traces), err)
	}
	for _, trace := range traces {
		if !extent.Sampled(trace, 3) {
			continue
		}
		out, _, code := on(t, 0, "report", "--format", "json", trace)
		if code != exitDone {
			t.Errorf("%s: exit code %d", trace, code)
			continue
		}
		if len(out) > report.MaxBrief || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %d bytes in %d lines", trace, len(out), strings.Count(out, "\n"))
		}
		var brief, full struct {
			Code      string `json:"verdict_code"`
			Verdict   string
			Processes []struct {
				Totals struct {
					Count int
					Pause *float64 `json:"pause_ms"`
				}
				Findings []struct{ ID string }
			}
			Omitted []string
		}
		whole, _, _ := onOnce(t, 0, "report", "--full", "--format", "json", trace)
		if err := errors.Join(json.Unmarshal([]byte(out), &brief), json.Unmarshal([]byte(whole), &full)); err != nil {
			t.Fatalf("%s: %v", trace, err)
		}
		if len(full.Omitted) > 0 {
			t.Errorf("%s: --full omits %v", trace, full.Omitted)
		}
		if (len(whole) > report.MaxBrief) != (len(brief.Omitted) > 0) {
			t.Errorf("%s: of %d bytes, %v is omitted", trace, len(whole), brief.Omitted)
		}
		if brief.Code == "" || brief.Code != full.Code || brief.Verdict != full.Verdict {
			t.Errorf("%s: verdict %q, in full %q", trace, brief.Code, full.Code)
		}
		for i := range brief.Processes {
			b, f := &brief.Processes[i], &full.Processes[i]
			if b.Totals.Count != f.Totals.Count || (b.Totals.Pause == nil) != (f.Totals.Pause == nil) {
				t.Errorf("%s: totals %+v, in full %+v", trace, b.Totals, f.Totals)
			}
			for n := range b.Findings {
				if b.Findings[n].ID != f.Findings[n].ID {
					t.Errorf("%s: finding %d is %s, in full %s", trace, n, b.Findings[n].ID, f.Findings[n].ID)
				}
			}
		}
	}
}
