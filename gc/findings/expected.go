package findings

import (
	"fmt"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc/whatif"
	"github.com/gctrail/gctrail/internal/units"
)

// expected bounds how a setting would change the process, in words without a full
// stop; empty if the events do not determine it.
func (c *Case) expected(s *Setting) string {
	if c.bounds == nil || c.affected() {
		return ""
	}
	_, name, _ := strings.Cut(s.Variable, "_")
	set, err := whatif.ParseSet(name + "=" + s.Value)
	if err != nil {
		return ""
	}
	program := *c.bounds
	program.Process, program.From, program.To = c.Summary.Process, c.Summary.From, c.Summary.To
	r := whatif.Predict(&program, []whatif.Set{set})
	var parts []string
	for i := range r.Metrics {
		if words := interval(&r.Metrics[i]); words != "" {
			parts = append(parts, words)
		}
	}
	if len(r.CannotTell) > 0 || len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ", if " + assumed
}

// assumed is the main assumption of the bounds; what-if lists the rest.
const assumed = "the program does the same work for each byte that it allocates"

// bounded are the metrics of what-if that a finding names.
var bounded = []struct {
	metric, words string
	text          func(float64) string
}{
	{"paused_pct", "time paused", units.Percent},
	{"pause_p99_ms", "p99 pause", func(ms float64) string { return units.Duration(time.Duration(ms * float64(time.Millisecond))) }},
	{"committed_max_bytes", "committed", func(n float64) string { return units.Bytes(int64(n)) }},
}

// interval returns a metric in words: "time paused 6.0 to 90.1 % (now 36.0 %)"; empty if it is
// not named, or not known.
func interval(m *whatif.Metric) string {
	for _, b := range bounded {
		now, low, high := m.Now, m.Low, m.High
		if b.metric == m.Name && now.Known() && low.Known() && high.Known() {
			return fmt.Sprintf("%s %s to %s (now %s)", b.words, b.text(low.Or(0)), b.text(high.Or(0)), b.text(now.Or(0)))
		}
	}
	return ""
}

// Does returns the setting's effect, followed by Expected if that is known, as sentences without
// the last full stop.
func (s *Setting) Does() string {
	if s.Expected == "" {
		return s.Effect
	}
	return s.Effect + ". Expected here: " + s.Expected
}
