package report

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/trace"
)

// openingOf returns the text of a page that a browser shows without scripts, with spaces
// for markup.
func openingOf(p *Page) string {
	return strings.Join(strings.Fields(regexp.MustCompile("<[^>]*>").ReplaceAllString(p.opening(), " ")), " ")
}

// TestOpening: without scripts, a page shows the verdict, the figures with their marks, the
// findings with their advice and commands, and the verdicts on other processes.
func TestOpening(t *testing.T) {
	const ms = Millis(time.Millisecond)
	web := Process{
		PID: gc.Some(uint64(7)), Name: gc.Some("web"), Runtime: gc.Some(".NET 10.0.1"), Server: gc.Some(true),
		Verdict: "Pauses are <long>.", Code: findings.Guilty, Longest: []LongPause{{Number: 42}}, Memory: &MemoryHistory{Says: "it was killed"},
		Totals: ProcessTotals{
			Totals: Totals{
				Count: 3, Pause: gc.Some(250 * ms), PauseMax: gc.Some(100 * ms),
				AllocatedBytes: gc.Some(int64(5_000_000)), FreedBytes: gc.Some(int64(4_000_000)),
			},
			Watched: 1000 * ms, AllocatedPerSecond: gc.Some(5e6), Incomplete: 1, Affected: 1, Induced: 1, Heap: HeapSizes{PeakBytes: gc.Some(int64(9_000_000))},
			Reasons: []ReasonTotals{{Reason: gc.Some("InducedNotForced"), Count: 1}},
			pauseIs: gc.LowerBound, allocatedIs: gc.Estimate, rateIs: gc.Exact, freedIs: gc.LowerBound, doubtful: 1, missing: 2,
		},
		Findings: []Finding{{
			ID: "R99", Title: "objects of <T> survive", Severity: "problem", Confidence: "high", Says: "90 % survive.", Advice: []string{"Pool them."},
			Settings: []Setting{{Variable: "DOTNET_gcServer", Value: "1", Effect: "more heaps"}},
			Next:     []Step{{"record types", "gctrail collect -n web"}},
		}},
	}
	document := &Document{
		Verdict: web.Verdict, Code: web.Code, Format: "nettrace V4", Duration: 2000 * ms, Lost: trace.Lost{Events: 1234, Cut: true},
		Processes: []Process{web, {Verdict: "The GC is fine.", Code: findings.Innocent}},
	}
	trace := &html.Trace{Name: `C:\traces\web & co.nettrace`, Start: time.Unix(0, 0)}
	page := Page{Page: html.Page{Title: "page", Verdict: web.Verdict, Traces: []*html.Trace{trace}}, documents: []*Document{document}}
	shown := openingOf(&page)
	for _, want := range []string{
		"gctrail web &amp; co.nettrace", "Pauses are &lt;long&gt;.", "web (pid 7) · .NET 10.0.1 · server GC · 2.00 s of nettrace V4 · 1970-01-01 00:00:00 UTC", "Memory: it was killed.",
		"Missing: the trace is truncated; 1,234 events lost.", "GCs &gt;3 ", "total pause &gt;250 ms &gt;25.0 % of 1.00 s", "longest pause &gt;100 ms GC 42", "p99 pause - ", "allocated ~5.00 MB 5.00 MB/s",
		"freed &gt;4.00 MB", "promoted - ", "largest heap &gt;9.00 MB", "induced &gt;1 33.3 %, 1 not forced", "uncertain 1 incomplete, or beside lost events", "problem Objects of &lt;T&gt; survive R99, high confidence 90 % survive. Pool them.",
		"DOTNET_gcServer=1 More heaps", "Record types: gctrail collect -n web", "process, web &amp; co.nettrace: The GC is fine.",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %q: %s", want, shown)
		}
	}
	page = Page{Page: html.Page{Title: "before and after", Verdict: "Nothing changed.", Comparison: json.RawMessage(`{}`), Traces: []*html.Trace{trace, trace}}, documents: []*Document{document, document}}
	if shown = openingOf(&page); !strings.HasPrefix(shown, "gctrail before and after Nothing changed. Processes web (pid 7)") {
		t.Errorf("a comparison opens with %q", shown)
	}
	page = Page{Page: html.Page{Title: "empty", Verdict: "No GC.", Traces: []*html.Trace{{Name: "a"}}}, documents: []*Document{{}}}
	if shown = openingOf(&page); shown != "gctrail a No GC." {
		t.Errorf("a page without processes opens with %q", shown)
	}
}
