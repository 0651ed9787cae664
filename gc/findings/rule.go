package findings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
)

// A rule finds one kind of trouble. Its finding has the parts of the advice that
// fit the evidence.
type rule struct {
	id        string
	title     string
	kind      ruleKind
	ends      bool   // its problem ends the process: verdicts name it first
	minor     bool   // reported even where pauses do not exceed the budget
	anyLength bool   // does not rest on the length of the trace
	threshold string // when the rule fires
	source    string // where the rule and its thresholds come from
	find      func(*judgement) (Finding, bool)
	advice    []advice
}

// An advice is a proposal or a next step. All advice that fits is given.
type advice struct {
	when     string                          // in words; empty for always
	fits     func(*judgement, *Finding) bool // nil for always
	text     string
	cause    bool // %s in text stands for the cause of most pauses
	settings []*setting
	next     []Step
}

type ruleKind uint8

const (
	symptom ruleKind = iota // has one of the causes below
	cause                   // a specific cause of long or frequent pauses
	generic                 // a cause common to most programs with pauses
	aside                   // costs memory, or time outside collections
	quality                 // of the trace
)

var kindNames = [...]string{"symptom", "specific cause", "generic cause", "aside", "quality of the trace"}

func (k ruleKind) String() string { return units.Name("ruleKind", kindNames[:], k) }

// rules lists all rules. Findings of equal severity, kind and weight are reported in
// this order.
var rules = slices.Concat(
	pauseRules, limitRules, inducedRules, fullRules, largeRules, modeRules, markRules, rootRules, pinRules, suspensionRules,
	processorRules, outsideRules, youngRules, phaseRules, serverRules, joinRules, memoryRules, heapRules, requestRules, elsewhereRules, cappedRules, traceRules,
)

// A Rule describes a rule, for listing and explaining rules.
type Rule struct {
	ID, Title string
	Kind      string // "specific cause"
	Threshold string // when the rule fires
	Source    string // where the rule and its thresholds come from
	Advice    []RuleAdvice
}

// RuleAdvice is one piece of advice of a rule.
type RuleAdvice struct {
	When     string // in words; empty for always
	Text     string
	Settings []Setting // as the latest runtime reads them
	Next     []Step
}

// Rules returns all rules, sorted by ID.
func Rules() []Rule {
	all := []Rule{{
		ID: "R01", Title: innocentTitle, Kind: symptom.String(),
		Threshold: "no finding is worse than a note, GCStart was recorded, the trace is not truncated or damaged and lacks no parts, lost events affect at most 1 % of the GCs and leave pauses within budget; the process was watched for 2 s or longer (with the default budget: a pause of 100 ms is 5 % of that), and for 10 s if it has fewer than 3 GCs",
		Source:    "mem-doc: up to 5 % of the time in GC is normal",
		Advice:    []RuleAdvice{{Text: innocentAdvice}},
	}}
	for i := range rules {
		r := &rules[i]
		out := Rule{ID: r.id, Title: r.title, Kind: r.kind.String(), Threshold: r.threshold, Source: r.source}
		for _, a := range r.advice {
			described := RuleAdvice{When: a.when, Text: a.text, Next: slices.Clone(a.next)}
			if a.cause {
				described.Text = fmt.Sprintf(a.text, "that cause")
			}
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

// A judgement is a case with figures that several rules share.
type judgement struct {
	*Case
	budget Budget
	all    *stats.Totals
	share  float64 // of the judged time, in percent: start-up is excluded if it is known
	steady bool    // start-up is excluded
	worst  stats.Stall
	cause  *Finding // the one that explains most of the pauses, and a quarter or more; nil if there is none, and before all rules were asked
}

// judge computes the shared figures.
func (c *Case) judge() *judgement {
	j := &judgement{Case: c, budget: c.allowed.orDefault(), all: c.Summary.All(), worst: c.worstStretch()}
	j.share = j.overall()
	watched := c.Summary.Watched()
	if s := &c.startup; s.known && c.Summary.Process != nil {
		begin := max(c.Summary.Process.Started, c.Summary.From.Or(0))
		rest := watched - max(0, s.until-begin)
		if rest >= startupTime && s.count >= several && j.all.Count > s.count {
			j.steady = true
			j.share = of(j.all.Pause.Sum()-s.pause, rest)
		}
	}
	return j
}

// overall returns the pauses' share of the whole time, in percent.
func (j *judgement) overall() float64 { return of(j.all.Pause.Sum(), j.Summary.Watched()) }

// shares returns the pauses' share of the whole time, and of the time after
// start-up if that is judged apart.
func (j *judgement) shares() []Figure {
	figures := []Figure{{"pause_pct", j.overall()}}
	if j.steady {
		figures = append(figures, Figure{"steady_pause_pct", j.share})
	}
	return figures
}

// besideBudget returns the budget in brackets, with the share after start-up if that is
// judged apart and differs.
func (j *judgement) besideBudget() string {
	if steady := units.Percent(j.share); j.steady && steady != units.Percent(j.overall()) {
		return fmt.Sprintf(" (%s after start-up; budget: %s)", steady, j.budget.share())
	}
	return fmt.Sprintf(" (budget: %s)", j.budget.share())
}

// explains returns d as a share of all pauses, in percent.
func (j *judgement) explains(d time.Duration) float64 { return min(100, of(d, j.all.Pause.Sum())) }

// findings applies the rules.
func (j *judgement) findings() []Finding {
	var found []Finding
	for i := range rules {
		r := &rules[i]
		f, ok := r.find(j)
		if !ok || (r.kind == cause || r.kind == generic) && !r.minor && !j.hurts() {
			continue
		}
		f.ID, f.Title, f.rule, f.kind = r.id, cmp.Or(f.Title, r.title), r, r.kind
		f.quote(j.retain)
		found = append(found, f)
	}
	found = settle(found)
	j.cause = heaviestCause(found)
	for i := range found {
		found[i].rule.advise(j, &found[i])
		j.moderate(&found[i])
	}
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
		switch {
		case a.cause:
			f.Advice = append(f.Advice, fmt.Sprintf(a.text, j.cause.ID+": "+j.cause.Title))
		case a.text != "":
			f.Advice = append(f.Advice, a.text)
		}
		for _, s := range a.settings {
			if s.fit != nil {
				fitting, ok := s.fit(j)
				if !ok {
					continue
				}
				s = &fitting
			}
			if set, ok := s.of(j.Summary.Process); ok {
				set.Expected = j.expected(&set)
				f.Settings = append(f.Settings, set)
			}
		}
		f.Next = append(f.Next, a.next...)
	}
}

// moderate lowers the confidence of findings from a short trace.
func (j *judgement) moderate(f *Finding) {
	if f.kind != quality && !f.rule.anyLength && j.short() {
		f.Confidence = min(f.Confidence, Medium)
	}
}

// short reports whether the trace is too short to judge the program by its shares.
func (j *judgement) short() bool {
	return j.Summary.Watched() < shortTrace || j.all.Count < fewGCs
}

// settle sorts findings. A generic cause is never more severe than a specific one
// that explains a quarter of the pauses, and less severe than one that certainly
// explains half.
func settle(found []Finding) []Finding {
	var worst Severity // of the specific causes
	most := Problem    // of the generic causes
	for i := range found {
		f := &found[i]
		if f.kind != cause || f.weight < largeShare/2 || f.Severity == Note || f.Severity < worst {
			continue
		}
		if f.Severity > worst {
			worst, most = f.Severity, f.Severity
		}
		if f.weight >= largeShare && f.Confidence == High {
			most = f.Severity - 1
		}
	}
	for i := range found {
		if f := &found[i]; f.kind == generic {
			f.Severity = min(f.Severity, most)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.kind, b.kind), cmp.Compare(b.weight, a.weight))
	})
	return found
}

// hurts reports whether pauses exceed the budget.
func (j *judgement) hurts() bool {
	return j.share >= j.budget.Share || j.long.count > 0 || j.worst.Share() >= j.budget.high()
}

// costs returns the severity of a cause that explains a share of the pauses, in percent.
// It is Note if pauses are within the budget.
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

// affected reports whether loss affects too many collections to rely on shares.
func (c *Case) affected() bool {
	all := c.Summary.All()
	missing := c.Summary.Process.Missing
	if c.Trace.Loss.Dropped() == 0 && c.Trace.Loss.Damaged == 0 && missing == 0 {
		return false
	}
	return 100*(all.Affected+missing) > affectedShare*(all.Count+missing)
}

// PauseShare returns the share of the time that GC pauses took, in percent. It is
// unknown if lost events leave it in doubt.
func (c *Case) PauseShare() gc.Opt[float64] {
	if c.affected() {
		return gc.Opt[float64]{}
	}
	return c.Summary.PauseShare()
}

// worstStretch returns the worst window of the longest size, empty if the process
// was watched for less than that.
func (c *Case) worstStretch() stats.Stall {
	windows := stats.StallWindows()
	longest := windows[len(windows)-1]
	for _, s := range c.Summary.Stalls() {
		if s.Window == longest {
			return s
		}
	}
	return stats.Stall{Window: longest}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// of returns part as a share of whole, in percent; zero if whole is not positive.
func of[T ~int | ~int64](part, whole T) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
