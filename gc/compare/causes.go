package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A Note is a remark about the runs that readers need before they look at any figure.
type Note struct {
	Kind string `json:"kind"` // "one_run", "length", "start_up", "loss", "runtime", …
	Text string `json:"text"`
}

// timeSources says where the GC's processor time is from, unless all runs have readings of
// their threads' times or some have none.
func timeSources(before, after []*Run) (kind, says string) {
	var sources []string
	for _, r := range slices.Concat(before, after) {
		if r.Process == nil {
			return "", ""
		}
		t, known := r.Process.GCTime().Get()
		if !known {
			return "", ""
		}
		if says := timeSourceWords[t.Source]; !slices.Contains(sources, says) {
			sources = append(sources, says)
		}
	}
	if len(sources) == 0 || len(sources) == 1 && sources[0] == timeSourceWords[gc.ThreadTimes] {
		return "", ""
	}
	return "gc_cpu_source", "The GC's processor time is from " + strings.Join(sources, " in some runs, in others from ") + "."
}

var timeSourceWords = map[gc.TimeSource]string{
	gc.ThreadTimes: "the times of its threads", gc.ContextSwitches: "context switches", gc.CPUSamples: "CPU samples, with bounds of 95 % confidence",
}

func notes(c *Comparison) []Note {
	before, after := c.Before, c.After
	var all []Note
	add := func(kind, format string, args ...any) {
		all = append(all, Note{kind, fmt.Sprintf(format, args...)})
	}
	switch n := c.runs(); {
	case n == 1:
		add("one_run", "One run a side cannot tell run-to-run noise from change (%d can); the noise between equal runs is assumed to be what was measured on other programs.", MinRuns)
	case n < MinRuns:
		add("few_runs", "%d runs a side cannot tell run-to-run noise from change; %d can.", n, MinRuns)
	}
	switch b, a := lengths(before), lengths(after); {
	case c.Basis == PerSecond:
		add("length", "The runs differ in length (%s before, %s after), so totals are compared per second.", b, a)
	case c.Basis == PerRun && b != a:
		add("length", "The runs differ in length (%s before, %s after), but their totals agree better than their rates, so totals are compared per run.", b, a)
	}
	if hidden := max(hiddenIn(before), hiddenIn(after)); math.IsInf(hidden, 1) {
		add("end", "The traces do not show what the runs allocated after their last collections. %s", recordEnd)
	} else if ch := c.Changes[0]; hidden > 0 && ch.Reason == EndUnknown {
		add("end", "The traces do not show what the runs allocated after their last collections (up to %s). %s", units.Bytes(int64(hidden)), recordEnd)
	}
	if b, a := fromStart(before), fromStart(after); b != a {
		add("start_up", "Runs that include the program's start-up: %d of %d before, %d of %d after.", b, len(before), a, len(after))
	}
	if b, a := affected(before), affected(after); b+a > 0 {
		add("loss", "Collections whose figures lost events may touch: %d before, %d after.", b, a)
	}
	for _, r := range slices.Concat(before, after) {
		if r.Collections > len(r.samples) {
			add("long_run", "%s has %d collections; the first %d are compared.", r.Name, r.Collections, len(r.samples))
		}
		if r.Collections == 0 {
			add("no_collection", "%s has no collection.", r.Name)
		}
	}
	if kind, says := timeSources(before, after); says != "" {
		add(kind, "%s", says)
	}
	differ := func(f *fact) bool {
		b, a := f.values(before), f.values(after)
		if b != a {
			verb := "differ"
			if strings.Contains(b, unrecorded) || strings.Contains(a, unrecorded) {
				verb = "may differ"
			}
			add(f.kind, "The runs %s in %s: %s before, %s after.", verb, f.text, b, a)
		}
		return b != a
	}
	for i := range facts {
		differ(&facts[i])
	}
	if !differ(&recordedSettings) { // otherwise some run has no settings to compare
		for i := range settings {
			differ(&settings[i])
		}
	}
	return all
}

var recordedSettings = setting("GC settings", func(*clr.GCSettingsRundown) string { return "recorded" })

var settings = [...]fact{
	// Without the setting, the event has 0, not the machine's memory.
	recorded("memory", "memory set by GCTotalPhysicalMemory", func(s *clr.GCSettingsRundown) string { return size(s.PhysicalMemoryConfig, "default") }),
	setting("hard limit of the heap", func(s *clr.GCSettingsRundown) string { return size(s.HardLimit, "none") }),
	setting("LOH threshold", func(s *clr.GCSettingsRundown) string { return size(s.LOHThreshold, "default") }),
	setting("smallest gen 0 budget", func(s *clr.GCSettingsRundown) string { return size(s.Gen0MinBudgetConfig, "default") }),
	setting("largest gen 0 budget", func(s *clr.GCSettingsRundown) string { return size(s.Gen0MaxBudgetConfig, "default") }),
	setting("high memory threshold", func(s *clr.GCSettingsRundown) string {
		if s.HighMemPercentConfig == 0 {
			return "default"
		}
		return fmt.Sprintf("%d %%", s.HighMemPercentConfig)
	}),
	setting("concurrent GC", onOff(clr.GCSettingsBitsConcurrent)),
	setting("large pages", onOff(clr.GCSettingsBitsLargePages)),
	setting("frozen segments", onOff(clr.GCSettingsBitsFrozenSegments)),
	setting("hard limit set by configuration", onOff(clr.GCSettingsBitsHardLimitConfigured)),
	setting("GCNoAffinitize", onOff(clr.GCSettingsBitsNoAffinitize)),
}

// setting returns a setting of the GC, in words and with its unit, as a fact.
func setting(text string, of func(*clr.GCSettingsRundown) string) fact {
	return recorded("settings", text, of)
}

// recorded returns a fact that is known where the trace has the GC's settings.
func recorded(kind, text string, of func(*clr.GCSettingsRundown) string) fact {
	return fact{kind, text, func(r *Run) string {
		if r.Process.Settings == nil {
			return ""
		}
		return of(r.Process.Settings)
	}}
}

func onOff(bit clr.GCSettingsBits) func(*clr.GCSettingsRundown) string {
	return func(s *clr.GCSettingsRundown) string {
		if s.BitSettings&bit != 0 {
			return "on"
		}
		return "off"
	}
}

// size formats a size; sizes with equal text count as equal.
func size(n uint64, zero string) string {
	if n == 0 {
		return zero
	}
	return units.Bytes(int64(min(n, math.MaxInt64)))
}

// unrecorded is the value of a fact that a run does not record: it may equal any other.
const unrecorded = "unknown"

// A fact is a property that runs should have in common.
type fact struct {
	kind, text string
	of         func(*Run) string
}

var facts = [...]fact{
	{"runtime", "runtime", func(r *Run) string { return r.Process.Runtime }},
	{"flavour", "garbage collector", func(r *Run) string {
		if !r.Process.Server.Known() {
			return ""
		}
		if r.Process.Server.Or(false) {
			return "server"
		}
		return "workstation"
	}},
	{"heaps", "number of heaps", func(r *Run) string { return number(r.heaps) }},
	{"processors", "number of processors", func(r *Run) string { return number(r.Processors) }},
	{"platform", "platform", func(r *Run) string {
		if r.Process.OS == "" {
			return ""
		}
		return r.Process.OS + " " + r.Process.Arch
	}},
}

// number returns empty for zero, which means unknown.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// values returns the different values of the runs, in order.
func (f *fact) values(runs []*Run) string {
	seen := make(map[string]bool)
	for _, r := range runs {
		v := unrecorded
		if r.Process != nil {
			v = cmp.Or(f.of(r), v)
		}
		seen[v] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), " or ")
}

// A Cause is a difference in why collections ran, in what was allocated, or in
// the findings.
type Cause struct {
	Kind   string  `json:"kind"`       // "reason", "kind", "type", "finding"
	Name   string  `json:"name"`       // of a type: with its heap if that is not the small one
	Before float64 `json:"before_pct"` // percent of collections, of allocated bytes (type), or of runs (finding)
	After  float64 `json:"after_pct"`
}

// notable is the smallest difference, in percentage points, of a cause that is
// reported.
const notable = 10

func causes(c *Comparison) []Cause {
	var all []Cause
	add := func(kind string, before, after map[string]float64) {
		names := maps.Clone(before)
		maps.Copy(names, after)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if math.Abs(before[name]-after[name]) >= notable {
				all = append(all, Cause{kind, name, before[name], after[name]})
			}
		}
	}
	reasons := func(r *Run) map[string]int64 { return r.reasons }
	kinds := func(r *Run) map[string]int64 { return r.kinds }
	types := func(r *Run) map[string]int64 { return r.Types }
	add("reason", shares(c.Before, reasons), shares(c.After, reasons))
	add("kind", shares(c.Before, kinds), shares(c.After, kinds))
	if !slices.ContainsFunc(slices.Concat(c.Before, c.After), func(r *Run) bool { return len(r.Types) == 0 }) {
		add("type", shares(c.Before, types), shares(c.After, types))
	}
	add("finding", found(c.Before), found(c.After))
	return all
}

// shares returns each name's percentage of the sum over all names and runs.
func shares(runs []*Run, of func(*Run) map[string]int64) map[string]float64 {
	counts, all := make(map[string]float64), 0.0
	for _, r := range runs {
		for name, n := range of(r) {
			counts[name] += float64(n)
			all += float64(n)
		}
	}
	for name := range counts {
		counts[name] *= 100 / all
	}
	return counts
}

// found returns the percentages of runs with each finding.
func found(runs []*Run) map[string]float64 {
	counts := make(map[string]float64)
	for _, r := range runs {
		for _, rule := range r.Findings {
			counts[rule] += 100 / float64(len(runs))
		}
	}
	return counts
}

// recordEnd names the recordings that cover allocation up to the end of a run.
const recordEnd = "Trace them with gctrail run, which records it, or with --profile gc-alloc."

// hiddenIn returns the most that a run may have allocated without a sign in its trace.
func hiddenIn(runs []*Run) float64 {
	most := 0.0
	for _, r := range runs {
		b := metrics[0].Bounds(r, PerRun)
		if hidden := b.High - b.Low; hidden > most {
			most = hidden
		}
	}
	return most
}

func lengths(runs []*Run) string {
	shortest, longest := extremes(runs, (*Run).Watched)
	if longest-shortest < 0.05 {
		return units.Number(longest) + " s"
	}
	return units.Number(shortest) + " to " + units.Number(longest) + " s"
}

func fromStart(runs []*Run) int {
	n := 0
	for _, r := range runs {
		if r.FromStart {
			n++
		}
	}
	return n
}

func affected(runs []*Run) int {
	n := 0
	for _, r := range runs {
		n += r.Affected
	}
	return n
}
