package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/units"
)

// A cure is a program before and after it followed the advice of a rule. Traces are in
// testdata; a plus merges two of one machine.
type cure struct {
	Rule          string
	Before, After string
	Change        string // a sentence
	Stays         string // a sentence, if the finding is there after the change, too: why
	Beside        string // with Stays, the rule whose finding is on one side only
}

// TestCures: the finding is there before the change, and not after it. Where it stays, because
// it is no trouble, the change shows in another finding.
func TestCures(t *testing.T) {
	t.Chdir("../..")
	for i, l := range lessons(t) {
		c := l.cure
		if c.Before == "" || c.After == "" || c.Change == "" || (c.Stays == "") != (c.Beside == "") {
			t.Errorf("%s: testdata/cures.json lacks a part of the pair: %+v", l.ID, c)
			continue
		}
		if c.Stays == "" && !extent.All() && i%8 != 0 {
			continue
		}
		before, after := c.finds(t, l.ID)
		if !before || after != (c.Stays != "") {
			t.Errorf("%s: the finding is in %s: %t; in %s: %t", l.ID, c.Before, before, c.After, after)
		}
		if before, after := c.finds(t, c.Beside); before && after || c.Stays != "" && !before && !after {
			t.Errorf("%s: %s is in %s: %t; in %s: %t", l.ID, c.Beside, c.Before, before, c.After, after)
		}
	}
}

// finds reports whether the finding of a rule is in the traces from before and after.
func (c *cure) finds(t *testing.T, rule string) (before, after bool) {
	t.Helper()
	sides := c.sides()
	_, before = findingIn(printed(t, readingOf(sides[0])...), rule)
	_, after = findingIn(printed(t, readingOf(sides[1])...), rule)
	return before, after
}

// sides returns the names of the traces from before and after the change.
func (c *cure) sides() [2][]string {
	return [2][]string{strings.Split(c.Before, "+"), strings.Split(c.After, "+")}
}

// links returns a link with the text both, which leads to the comparison of the traces. The page
// does not compare several with several: then there are links with the other texts to each side.
func (c *cure) links(both, before, after string) string {
	sides := c.sides()
	if len(sides[0]) == 1 && len(sides[1]) == 1 {
		query := url.Values{"before": sides[0], "after": sides[1]}
		return fmt.Sprintf("[%s](%s?%s)", both, openPage, query.Encode())
	}
	return fmt.Sprintf("[%s](%s), [%s](%s)", before, opening(sides[0]), after, opening(sides[1]))
}

// cured writes the reports from before and after the advice was followed.
func (l *lesson) cured(t *testing.T, p func(string, ...any)) {
	t.Helper()
	c := l.cure
	outcome := "The finding is there before the change, and not after it."
	if c.Stays != "" {
		outcome = c.Stays
	}
	p("## Before and after\n")
	p("%s %s %s, or read them one by one:\n", c.Change, outcome, c.links("Compare both traces in the page", "Open the traces from before in the page", "and the traces from after"))
	p("```console")
	for _, names := range c.sides() {
		args := readingOf(names)
		text := printed(t, args...)
		p("$ gctrail %s\n%s\n…", strings.Join(args, " "), verdictOf(text))
		for _, rule := range []string{l.ID, c.Beside} {
			if finding, found := findingIn(text, rule); found {
				p("%s\n…", finding)
			}
		}
	}
	p("```\n")
	c.figures(t, p)
	p("One run of each does not show how much equal runs differ: [more runs](README.md#runs-before-and-after-a-change) do.\n")
}

// measuredTotals are the figures of a process in a report that the pages compare.
type measuredTotals struct {
	Count     int      `json:"count"`
	PausePct  *float64 `json:"pause_pct"`
	PauseMax  *float64 `json:"pause_max_ms"`
	Watched   float64  `json:"watched_ms"`
	Suspend   *float64 `json:"suspend_ms"`
	Allocated *float64 `json:"allocated_bytes_per_s"`
	ByGen     []struct {
		Generation int `json:"generation"`
		Count      int `json:"count"`
	} `json:"generations"`
	Heap struct {
		After     *float64 `json:"after_bytes"`
		Committed *float64 `json:"committed_max_bytes"`
	} `json:"heap"`
}

// cureFigures are the rows of the table of a pair.
var cureFigures = []struct {
	name  string
	value func(*measuredTotals) string
}{
	{"paused", func(m *measuredTotals) string { return known(m.PausePct, units.Percent) }},
	{"longest pause", func(m *measuredTotals) string { return known(m.PauseMax, inMillis) }},
	{"suspending threads, of that a GC", func(m *measuredTotals) string {
		return known(m.Suspend, func(ms float64) string { return inMillis(ms / float64(max(m.Count, 1))) })
	}},
	{"GCs a second", func(m *measuredTotals) string { return m.perSecond(m.Count) }},
	{"gen 2 GCs a second", func(m *measuredTotals) string { return m.perSecond(m.gen2()) }},
	{"allocated a second", func(m *measuredTotals) string { return known(m.Allocated, inBytes) }},
	{"heap after the last GC", func(m *measuredTotals) string { return known(m.Heap.After, inBytes) }},
	{"most memory committed", func(m *measuredTotals) string { return known(m.Heap.Committed, inBytes) }},
}

func known(v *float64, write func(float64) string) string {
	if v == nil {
		return units.Unknown
	}
	return write(*v)
}

func inMillis(ms float64) string {
	return units.Duration(time.Duration(ms * float64(time.Millisecond)))
}
func inBytes(n float64) string { return units.Bytes(int64(n)) }

func (m *measuredTotals) perSecond(n int) string {
	return strconv.FormatFloat(float64(n)/(m.Watched/1000), 'f', 1, 64)
}

func (m *measuredTotals) gen2() int {
	for _, g := range m.ByGen {
		if g.Generation == 2 {
			return g.Count
		}
	}
	return 0
}

// figures writes the figures of both sides, as the report has them: of the processes that paused
// most, where a side has several.
func (c *cure) figures(t *testing.T, p func(string, ...any)) {
	t.Helper()
	var sides [2]*measuredTotals
	for i, names := range c.sides() {
		sides[i] = measuredIn(t, names)
	}
	p("| figure | before | after |\n|---|---|---|")
	for _, f := range cureFigures {
		if before, after := f.value(sides[0]), f.value(sides[1]); before != units.Unknown || after != units.Unknown {
			p("| %s | %s | %s |", f.name, before, after)
		}
	}
	p("")
}

// measuredIn returns the figures of the process that paused most.
func measuredIn(t *testing.T, names []string) *measuredTotals {
	t.Helper()
	args := []string{"report", "--format", "json"}
	if len(names) > 1 {
		args = append(args, "--merge")
	}
	for _, name := range names {
		args = append(args, inTestdata(name))
	}
	var document struct {
		Processes []struct {
			Totals measuredTotals `json:"totals"`
		} `json:"processes"`
	}
	if err := json.Unmarshal([]byte(printed(t, args...)), &document); err != nil || len(document.Processes) == 0 {
		t.Fatalf("%s: %d processes: %v", names, len(document.Processes), err)
	}
	return &document.Processes[0].Totals
}
