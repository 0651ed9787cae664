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

// A cure is a program before and after it followed the advice of a rule, or the reason that
// there is none. Traces are in testdata; a plus merges two of one machine.
type cure struct {
	Rule          string
	Before, After string
	Change        string // a sentence
	Without       string // a sentence, if there are no traces
}

// TestCures: the finding is there before the change, and not after it.
func TestCures(t *testing.T) {
	t.Chdir("../..")
	for i, l := range lessons(t) {
		c := l.cure
		if (c.Without == "") != (c.Before != "" && c.After != "" && c.Change != "") {
			t.Errorf("%s has neither a whole pair nor the reason that there is none, or both", l.ID)
		}
		if c.Without != "" || !extent.All() && i%8 != 0 {
			continue
		}
		if _, found := findingIn(printed(t, readingOf(c.sides()[0])...), l.ID); !found {
			t.Errorf("%s finds nothing in %s", l.ID, c.Before)
		}
		if text, found := findingIn(printed(t, readingOf(c.sides()[1])...), l.ID); found {
			t.Errorf("%s finds in %s:\n%s", l.ID, c.After, text)
		}
	}
}

// sides returns the names of the traces from before and after the change.
func (c *cure) sides() [2][]string {
	return [2][]string{strings.Split(c.Before, "+"), strings.Split(c.After, "+")}
}

// link returns the address that the page opens on the spot: the comparison of the traces, or
// links to both sides if one has several traces, which the page does not compare.
func (c *cure) link() string {
	sides := c.sides()
	if len(sides[0]) == 1 && len(sides[1]) == 1 {
		query := url.Values{"before": sides[0], "after": sides[1]}
		return fmt.Sprintf("[Compare both traces in the page](%s?%s)", openPage, query.Encode())
	}
	before, after := url.Values{"trace": sides[0]}, url.Values{"trace": sides[1]}
	return fmt.Sprintf("Open [those from before](%s?%s) and [those from after](%[1]s?%[3]s) in the page", openPage, before.Encode(), after.Encode())
}

// cured writes the reports from before and after the advice was followed, or the reason that
// there are none.
func (l *lesson) cured(t *testing.T, p func(string, ...any)) {
	t.Helper()
	c := l.cure
	p("## Before and after\n")
	if c.Without != "" {
		p("There is no pair of traces here: %s\n", c.Without)
		return
	}
	p("%s The finding is there before the change, and not after it. %s, or read them one by one:\n", c.Change, c.link())
	p("```console")
	for _, names := range c.sides() {
		args := readingOf(names)
		text := printed(t, args...)
		p("$ gctrail %s\n%s\n…", strings.Join(args, " "), verdictOf(text))
		if finding, found := findingIn(text, l.ID); found {
			p("%s\n…", finding)
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
