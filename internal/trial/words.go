package trial

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// Says returns the result in a sentence or two: what to set, what it gains and costs.
func (r *Result) Says() string {
	switch {
	case r.Ending == BaseFailing:
		return "No result: the program fails under its present settings (" + r.Base().failures() + ")."
	case r.Rounds == 0:
		return "No result: no round was completed."
	case len(r.Best) == 0:
		return r.nothing()
	}
	best := r.Best[0]
	says := best.Name + ": " + best.gainsInWords()
	switch also := r.Best[1:]; len(also) {
	case 0:
		if len(r.Candidates()) > 1 {
			says += "; nothing else helps"
		}
	case 1:
		says += ". Also " + also[0].Name + ": " + also[0].gainsInWords()
	default:
		says += ". Also " + strings.Join(text.Each(also, nameOf), ", ")
	}
	return says + "."
}

// nothing returns the sentence of a result without a winner.
func (r *Result) nothing() string {
	rounds := text.Counted(r.Rounds, "round")
	switch {
	case r.Ending == OthersFailing:
		return "Nothing helps: the program fails under every setting that was tried."
	case r.Rounds < looks[0] && r.Ending == Spent:
		return fmt.Sprintf("No setting is shown to help in %s, which are too few to tell: allow for %d, %s, with --budget.",
			rounds, looks[0], units.Duration(r.Took/time.Duration(r.Rounds)*time.Duration(looks[0])))
	}
	switch gain, metric := r.hidden(); {
	case metric != nil && gain <= smallGain:
		return fmt.Sprintf("Nothing helps: in %s, no setting that was tried gains more than %s in anything (%s).", rounds, gainText(gain), metric.Text)
	case metric != nil && r.undecided() > 0 && gain < 100:
		return fmt.Sprintf("No setting is shown to help in %s: a gain of up to %s may be hidden by noise (%s).", rounds, gainText(gain), metric.Text)
	case r.undecided() > 0:
		return fmt.Sprintf("No setting is shown to help in %s: where it says cannot tell, a gain may be hidden by noise.", rounds)
	}
	return fmt.Sprintf("Nothing helps: in %s, no setting that was tried gains more than it costs.", rounds)
}

// smallGain is the gain, in percent, that is too small to look for: settings that cannot
// gain more are equivalent to the present ones.
const smallGain = 10

func gainText(percent float64) string { return fmt.Sprintf("%.0f %%", math.Ceil(percent)) }

// hidden returns the largest gain, in percent, that the intervals of the changes leave open, and
// the metric; nil if there is none that matters, or one is no longer hidden. The intervals of all
// settings hold together, at the level of verdicts.
func (r *Result) hidden() (gain float64, metric *Metric) {
	for _, o := range r.Candidates() {
		for i := range o.Figures {
			f := &o.Figures[i]
			if o.hopeless() || !f.Metric.decides || !f.Known() {
				continue
			}
			if f.Against == Better {
				return 0, nil
			}
			if open := f.openGain(r.Base().Figures[i].Value); metric == nil && open > 0 || open > gain {
				gain, metric = open, f.Metric
			}
		}
	}
	return gain, metric
}

// openGain returns the largest gain, in percent of a value, that the interval of the change
// leaves open; 0 if that is too small to matter in the metric's unit.
func (f *Figure) openGain(of float64) float64 {
	gain := -f.ChangeLow
	if f.Metric.Higher {
		gain = f.ChangeHigh
	}
	switch {
	case !f.Metric.Higher && of <= f.Metric.floor:
		return 0 // there is no more to gain than that
	case math.IsNaN(gain):
		return math.Inf(1)
	case gain*of/100 <= f.Metric.floor:
		return 0
	}
	return gain
}

// gainsInWords returns what a setting gains and what it costs.
func (o *Outcomes) gainsInWords() string {
	var gains, costs, unsure []string
	for _, f := range o.weighed() {
		switch f.Against {
		case Better:
			gains = append(gains, f.words())
		case Worse:
			costs = append(costs, f.words())
		case CannotTell:
			if f.Metric.decides {
				unsure = append(unsure, f.Metric.Text)
			}
		}
	}
	words := strings.Join(gains, ", ")
	if len(costs) > 0 {
		words += " for " + strings.Join(costs, ", ")
	}
	if len(unsure) > 0 {
		words += " (cannot tell: " + strings.Join(unsure, ", ") + ")"
	}
	return words
}

// weighed returns the figures, the largest effects first.
func (o *Outcomes) weighed() []*Figure {
	var all []*Figure
	for i := range o.Figures {
		if f := &o.Figures[i]; f.Known() && f.Metric.weight > 0 {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *Figure) int {
		return cmp.Compare(b.Metric.weight*math.Abs(b.shift), a.Metric.weight*math.Abs(a.shift))
	})
	return all
}

// words returns a change in words: "time paused 61 % less", "90 MB more peak memory".
func (f *Figure) words() string {
	more := "more"
	if math.IsNaN(f.Change) { // the present value is 0
		return f.Metric.Text + " " + f.text(f.Value)
	}
	if f.Change < 0 {
		more = "less"
	}
	if f.Metric.Unit == Bytes {
		return fmt.Sprintf("%s %s %s", units.Bytes(int64(math.Abs(f.Value*f.Change/(100+f.Change)))), more, f.Metric.Text)
	}
	if f.Change >= 100 {
		return f.Metric.Text + " " + units.Number(1+f.Change/100) + " times"
	}
	return fmt.Sprintf("%s %.0f %% %s", f.Metric.Text, math.Abs(f.Change), more)
}

// undecided returns how many candidates have a metric that could not be decided.
func (r *Result) undecided() int {
	n := 0
	for _, o := range r.Candidates() {
		if !o.hopeless() && !o.decided() {
			n++
		}
	}
	return n
}

// failures lists how the runs that did not end well ended: "exit code 3, 2 of 2 runs".
func (o *Outcomes) failures() string {
	counts := map[string]int{}
	var order []string
	for i := range o.Runs {
		if run := &o.Runs[i]; run.Outcome != Completed {
			if counts[run.Reason] == 0 {
				order = append(order, run.Reason)
			}
			counts[run.Reason]++
		}
	}
	return strings.Join(text.Each(order, func(reason *string) string {
		return fmt.Sprintf("%s, %d of %s", *reason, counts[*reason], text.Counted(len(o.Runs), "run"))
	}), "; ")
}

// Notes returns what is to be known besides the figures.
func (r *Result) Notes() []string {
	var notes []string
	switch {
	case r.Ending == Cancelled && r.Rounds == 0:
		notes = append(notes, "Interrupted in the first round.")
	case r.Ending == Cancelled:
		notes = append(notes, fmt.Sprintf("Interrupted after %s: this is what is known so far.", text.Counted(r.Rounds, "round")))
	case r.Ending == Spent:
		notes = append(notes, fmt.Sprintf("The budget of time was spent after %s.", text.Counted(r.Rounds, "round")))
	}
	var left []string
	for _, o := range r.Settings {
		if o.Left > 0 {
			left = append(left, fmt.Sprintf("%s (%s)", o.Name, text.Counted(o.Left, "round")))
		}
	}
	if len(left) > 0 {
		notes = append(notes, "Not run to the end, because others promised more and there was no time for all: "+strings.Join(left, ", ")+". A larger --budget runs all.")
	}
	for _, o := range r.Settings {
		if failed := o.failures(); failed != "" {
			notes = append(notes, fmt.Sprintf("%s: %s; the output is in %s.", o.Name, failed, o.outputs()))
		}
	}
	if share, known := r.CollectorShare(); known {
		notes = append(notes, fmt.Sprintf("At least %s of the processor time is the collector's under the present settings.", units.Percent(math.Floor(share))))
	}
	for _, o := range r.Candidates() {
		for _, ignored := range o.ignored() {
			notes = append(notes, o.Name+": "+ignored+".")
		}
	}
	return notes
}

// outputs returns the file of the first run that did not end well.
func (o *Outcomes) outputs() string {
	for i := range o.Runs {
		if o.Runs[i].Outcome != Completed {
			return text.Quoted(o.Runs[i].Output)
		}
	}
	return ""
}
