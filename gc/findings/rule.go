package findings

import (
	"cmp"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
)

// A rule looks for one thing: evidence makes it a finding, and of its advice
// comes what fits the evidence.
type rule struct {
	id        string
	title     string
	kind      ruleKind
	minor     bool   // a cause that is told even where pauses do not hurt
	threshold string // what makes it a finding
	source    string // where the rule and its thresholds come from
	find      func(*judgement) (Finding, bool)
	advice    []advice
}

// advice is what to do, and what to look at next. Where more than one fits, all
// come.
type advice struct {
	when     string                          // in words; empty for always
	fits     func(*judgement, *Finding) bool // nil for always
	text     string
	settings []*setting
	next     []Step
}

type ruleKind uint8

const (
	symptom ruleKind = iota // that a cause explains
	cause                   // of pauses, or of their number: one that leaves little to guess
	generic                 // a cause that most programs with pauses have
	aside                   // costs memory, or time that no collection takes
	quality                 // of the trace
)

var kindNames = [...]string{"symptom", "specific cause", "generic cause", "aside", "quality of the trace"}

func (k ruleKind) String() string { return nameOf(kindNames[:], int(k)) }

// rules are all rules, by noun. Findings of the same severity and kind that
// explain as much come in this order.
var rules = slices.Concat(
	pauseRules, limitRules, inducedRules, fullRules, largeRules, markRules, rootRules, pinRules, suspensionRules,
	youngRules, serverRules, memoryRules, traceRules,
)

// A Rule describes one of the rules, for those who list or explain them.
type Rule struct {
	ID, Title string
	Kind      string // "specific cause"
	Threshold string // what makes it a finding
	Source    string // where the rule and its thresholds come from
	Advice    []RuleAdvice
}

// RuleAdvice is advice that a rule can give.
type RuleAdvice struct {
	When     string // in words; empty for always
	Text     string
	Settings []Setting // with the names of the latest runtime
}

// Rules returns all rules, R01 first, in the order of their numbers.
func Rules() []Rule {
	all := []Rule{{
		ID: "R01", Title: innocentTitle, Kind: symptom.String(),
		Threshold: "no finding is worse than a note, GCStart was recorded, and lost events affect at most 1 % of the GCs",
		Source:    "mem-doc: up to 5 % of the time in GC is normal",
		Advice:    []RuleAdvice{{Text: innocentAdvice}},
	}}
	for i := range rules {
		r := &rules[i]
		out := Rule{ID: r.id, Title: r.title, Kind: r.kind.String(), Threshold: r.threshold, Source: r.source}
		for _, a := range r.advice {
			described := RuleAdvice{When: a.when, Text: a.text}
			for _, s := range a.settings {
				described.Settings = append(described.Settings, s.latest())
			}
			out.Advice = append(out.Advice, described)
		}
		all = append(all, out)
	}
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// A judgement is a case with the figures that several rules need.
type judgement struct {
	*Case
	budget Budget
	all    *stats.Totals
	share  float64 // of the time that is judged, in percent: without the start-up where that is known
	steady bool    // the start-up is left out
	worst  stats.Stall
}

// judge gathers the figures.
func (c *Case) judge() *judgement {
	j := &judgement{Case: c, budget: c.Budget.orDefault(), all: c.Process.All(), worst: c.worstStretch()}
	j.share = j.overall()
	watched := c.Process.Watched()
	if s := &c.startup; s.known && c.Process.Process != nil {
		rest := c.Process.Process.Started + watched - s.until
		if rest >= startupTime && s.count >= several && j.all.Count > s.count {
			j.steady = true
			j.share = of(j.all.Pause.Sum()-s.pause, rest)
		}
	}
	return j
}

// overall is the share of the pauses in all of the time, in percent.
func (j *judgement) overall() float64 { return of(j.all.Pause.Sum(), j.Process.Watched()) }

// explains is the part of the pauses that some time is, in percent.
func (j *judgement) explains(d time.Duration) float64 { return min(100, of(d, j.all.Pause.Sum())) }

// Findings returns what the rules find, those that matter most first: problems
// before warnings, specific causes before generic ones. Where none is worse than a
// note, the first finding is that the garbage collector is innocent.
func (c *Case) Findings() []Finding {
	j := c.judge()
	var found []Finding
	for i := range rules {
		r := &rules[i]
		f, ok := r.find(j)
		if !ok || (r.kind == cause || r.kind == generic) && !r.minor && !j.hurts() {
			continue
		}
		f.ID, f.Title, f.kind = r.id, r.title, r.kind
		r.advise(j, &f)
		j.moderate(&f)
		found = append(found, f)
	}
	found = settle(found)
	if j.innocent(found) {
		found = slices.Insert(found, 0, j.innocence())
	}
	return found
}

// advise adds the advice that fits, and the settings that the runtime reads.
func (r *rule) advise(j *judgement, f *Finding) {
	for i := range r.advice {
		a := &r.advice[i]
		if a.fits != nil && !a.fits(j, f) {
			continue
		}
		if a.text != "" {
			f.Advice = append(f.Advice, a.text)
		}
		for _, s := range a.settings {
			if set, ok := s.of(j.Process.Process); ok {
				f.Settings = append(f.Settings, set)
			}
		}
		f.Next = append(f.Next, a.next...)
	}
}

// moderate lowers the confidence in what a short trace shows.
func (j *judgement) moderate(f *Finding) {
	if f.kind != quality && j.short() {
		f.Confidence = min(f.Confidence, Medium)
	}
}

// short reports whether the trace is too short for its shares to be those of the
// program.
func (j *judgement) short() bool {
	return j.Process.Watched() < shortTrace || j.all.Count < fewGCs
}

// settle orders findings, and has generic causes weigh no more than the specific
// one that explains as much.
func settle(found []Finding) []Finding {
	specific := -1
	for i := range found {
		if f := &found[i]; f.kind == cause && f.weight >= largeShare/2 && f.Severity > Note {
			specific = max(specific, int(f.Severity))
		}
	}
	for i := range found {
		if f := &found[i]; f.kind == generic && specific >= 0 {
			f.Severity = min(f.Severity, Severity(specific))
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.kind, b.kind), cmp.Compare(b.weight, a.weight))
	})
	return found
}

// hurts reports whether pauses cost the program more than the budget.
func (j *judgement) hurts() bool {
	return j.share >= j.budget.Share || j.long.count > 0 || j.worst.Share() >= j.budget.high()
}

// costs is the severity of a cause that explains so many percent of the pauses:
// none matters where pauses do not hurt.
func (j *judgement) costs(explains float64) Severity {
	switch {
	case explains < someShare || !j.hurts():
		return Note
	case explains < largeShare/2 || j.share < j.budget.high():
		return Warning
	default:
		return Problem
	}
}

// affected reports whether loss affects so many collections that shares are not
// to be relied on.
func (c *Case) affected() bool {
	if c.Trace.Lost == 0 && c.Trace.Damaged == 0 {
		return false
	}
	all := c.Process.All()
	return 100*all.Affected > affectedShare*all.Count
}

// PauseShare is the part of the time that GC pauses took, in percent. It is
// unknown where lost events leave it in doubt.
func (c *Case) PauseShare() gc.Opt[float64] {
	if c.affected() {
		return gc.Opt[float64]{}
	}
	return c.Process.PauseShare()
}

// worstStretch is the worst of the longest stretches that are looked at, none if
// the process was watched for less.
func (c *Case) worstStretch() stats.Stall {
	longest := stats.StallWindows[len(stats.StallWindows)-1]
	for _, s := range c.Process.Stalls() {
		if s.Window == longest {
			return s
		}
	}
	return stats.Stall{Window: longest}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// of is the share of a part in percent, zero of nothing.
func of[T ~int | ~int64](part, whole T) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
