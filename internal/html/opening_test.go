package html

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// openingOf returns the text of a page that a browser shows without scripts, with spaces
// for markup.
func openingOf(t *testing.T, p *Page) string {
	t.Helper()
	var out strings.Builder
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), `<div id="app">`)
	shown, _, found := strings.Cut(rest, "</div>\n<noscript>")
	if !found {
		t.Fatal("the page has no opening")
	}
	return strings.Join(strings.Fields(regexp.MustCompile("<[^>]*>").ReplaceAllString(shown, " ")), " ")
}

const openingReport = `{"verdict": "Pauses are <long>.", "verdict_code": "problem", "format": "nettrace V4", "duration_ms": 2000, "lost": {"events": 1234, "cut": true, "damaged": 0}, "processes": [
	{"pid": 7, "process": "web", "runtime": ".NET 10.0.1", "server": true, "verdict": "Pauses are <long>.", "verdict_code": "problem", "longest_pauses": [{"number": 42}], "memory": {"says": "it was killed"},
	 "totals": {"count": 3, "watched_ms": 1000, "pause_ms": 250, "pause_max_ms": 100, "pause_p99_ms": null, "allocated_bytes": 5000000, "allocated_is": "estimate",
		"allocated_bytes_per_s": 5000000, "freed_bytes": 4000000, "freed_is": "lower_bound", "promoted_bytes": null, "induced": 1, "reasons": [{"reason": "InducedNotForced", "count": 1}], "heap": {"peak_bytes": 9000000}},
	 "findings": [{"id": "R99", "title": "objects of <T> survive", "severity": "problem", "confidence": "high", "says": "90 % survive.", "advice": ["Pool them."],
		"settings": [{"env": "DOTNET_gcServer", "env_value_hex": "1", "effect": "more heaps"}], "next": [{"purpose": "record types", "command": "gctrail collect -n web"}]}]},
	{"pid": null, "process": null, "runtime": null, "server": null, "verdict": "The GC is fine.", "verdict_code": "innocent", "memory": null, "totals": {"count": 0, "heap": {}}, "findings": []}]}`

// TestOpening: without scripts, a page shows the verdict, the figures with their marks, the
// findings with their advice and commands, and the verdicts on other processes.
func TestOpening(t *testing.T) {
	trace := &Trace{Name: `C:\traces\web & co.nettrace`, Report: json.RawMessage(openingReport), Start: time.Unix(0, 0)}
	trace.Add(&gc.Collection{Process: &gc.Process{PID: 7, Name: "web"}, Number: 1}) // its pause is unknown
	shown := openingOf(t, &Page{Title: "page", Verdict: "Pauses are <long>.", Traces: []*Trace{trace}})
	for _, want := range []string{
		"gctrail web &amp; co.nettrace", "Pauses are &lt;long&gt;.", "web (pid 7) · .NET 10.0.1 · server GC · 2.00 s of nettrace V4 · 1970-01-01 00:00:00 UTC", "Memory: it was killed.",
		"Missing: the trace is truncated; 1,234 events lost.", "GCs 3 ", "total pause &gt;250 ms &gt;25.0 % of 1.00 s", "longest pause 100 ms GC 42", "p99 pause – ", "allocated ~5.00 MB 5.00 MB/s",
		"freed &gt;4.00 MB", "promoted – ", "largest heap 9.00 MB", "induced 1 33.3 %, 1 not forced", "incomplete 1 GC lacks events", "problem Objects of &lt;T&gt; survive R99, high confidence 90 % survive. Pool them.",
		"DOTNET_gcServer=1 More heaps", "Record types: gctrail collect -n web", "process, web &amp; co.nettrace: The GC is fine.",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %q: %s", want, shown)
		}
	}
	shown = openingOf(t, &Page{Title: "before and after", Verdict: "Nothing changed.", Comparison: json.RawMessage(`{}`), Traces: []*Trace{trace, trace}})
	if !strings.HasPrefix(shown, "gctrail before and after Nothing changed. Processes web (pid 7)") {
		t.Errorf("a comparison opens with %q", shown)
	}
	if shown = openingOf(t, &Page{Title: "empty", Verdict: "No GC.", Traces: []*Trace{{Name: "a", Report: json.RawMessage(`{"processes":[]}`)}}}); shown != "gctrail a No GC." {
		t.Errorf("a page without processes opens with %q", shown)
	}
	var out strings.Builder
	if err := (&Page{Traces: []*Trace{{Name: "a"}}}).Write(&out); err == nil {
		t.Error("a page without a report is written")
	}
}
