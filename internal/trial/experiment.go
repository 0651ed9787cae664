package trial

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Setting is what the program is run with.
type Setting struct {
	Name      string     // "GCgen0size=64M"; Present for the settings that the program has
	Why       string     // why it is proposed, as a sentence without a full stop; empty if it was given
	Variables []Variable // none for the present settings
	Runtime   string     // the folder of another runtime; empty for the program's own
}

// A Variable is a setting of the runtime.
type Variable struct {
	Name  string // without the prefix: "GCgen0size"
	Value string // as the runtime reads it: "0x4000000"
	Text  string // the same as people read it: "64 MiB"; empty for a text
}

// Present is the name of the settings that the program has.
const Present = "present settings"

// An Outcome is how a run of the program ended.
type Outcome uint8

// The outcomes of runs.
const (
	Completed Outcome = iota
	Failed            // with an exit code that is not 0
	TimedOut
	Unmeasured // it ended well, but lacks the trace or the amount of work
	Interrupted
)

// String returns the outcome in a word, as in JSON.
func (o Outcome) String() string {
	return [...]string{"completed", "failed", "timed_out", "unmeasured", "interrupted"}[o]
}

// A Run is one run of the program.
type Run struct {
	Round   int
	Outcome Outcome
	Code    int    // the exit code of a failed run
	Reason  string // why it is not measured, as a sentence without a full stop; empty if it is
	Trace   string // path; empty if there is none
	Output  string // path of the program's output
	Values  Values
	Process *gc.Process // as the trace describes it; nil if it does not
}

// looks are the numbers of rounds after which the settings are judged. They are fixed, so
// that the level can be divided by their number: whoever looks after each round until
// something stands out will find it. The look at the end, whenever that is, is one more.
var looks = [...]int{5, 8, 12, 20, 32}

const numLooks = len(looks) + 1

// An Experiment runs a program under several settings.
type Experiment struct {
	Settings []Setting // the first are the present ones
	// Run runs the program once. It returns when ctx is done, leaving nothing running.
	Run func(ctx context.Context, s *Setting, round int) Run
	// Budget is how long the experiment may take; 0 is without limit.
	Budget time.Duration
	Seed   uint64
	// Now returns the time.
	Now func() time.Time
	// Progress, if not nil, is called before each run.
	Progress func(s *Setting, round int)

	table criticals // nil for a new one
}

// An Ending is why an experiment ended.
type Ending uint8

// The endings of experiments.
const (
	Decided     Ending = iota // every metric of every setting that can decide is decided
	Spent                     // the budget of time is
	Exhausted                 // after the last look
	Cancelled                 // by the user
	BaseFailing               // nothing can be compared with
	OthersFailing
)

// String returns the ending in a word, as in JSON.
func (e Ending) String() string {
	return [...]string{"decided", "budget_spent", "rounds_done", "interrupted", "base_fails", "candidates_fail"}[e]
}

// patience is after how many runs, all failing, a setting is given up.
const patience = 2

// Do runs the program until the settings can be judged, the budget is spent, or ctx is done.
func (e *Experiment) Do(ctx context.Context) *Result {
	r := &Result{Settings: make([]*Outcomes, len(e.Settings)), table: e.table}
	if r.table == nil {
		r.table = criticals{}
	}
	for i := range e.Settings {
		r.Settings[i] = &Outcomes{Setting: &e.Settings[i]}
	}
	began := e.Now()
	r.Ending = e.rounds(ctx, r, began)
	r.Took = e.Now().Sub(began)
	r.judge()
	return r
}

// rounds runs the rounds.
func (e *Experiment) rounds(ctx context.Context, r *Result, began time.Time) Ending {
	random := rand.New(rand.NewPCG(e.Seed, uint64(len(e.Settings))))
	active := slices.Clone(r.Settings)
	for r.Rounds < looks[len(looks)-1] {
		roundBegan := e.Now()
		random.Shuffle(len(active), func(i, j int) { active[i], active[j] = active[j], active[i] })
		if !e.round(ctx, active, r.Rounds+1) {
			return Cancelled
		}
		r.Rounds++
		if r.Base().hopeless() {
			return BaseFailing
		}
		if slices.Contains(looks[:], r.Rounds) {
			r.judge()
			active = slices.DeleteFunc(active, func(s *Outcomes) bool { return s != r.Base() && s.decided() })
		}
		active = slices.DeleteFunc(active, func(s *Outcomes) bool { return s != r.Base() && s.hopeless() })
		active = e.narrow(r, active, began)
		switch {
		case len(active) > 1:
		case slices.ContainsFunc(r.Candidates(), func(s *Outcomes) bool { return !s.hopeless() }):
			return Decided
		default:
			return OthersFailing
		}
		if now := e.Now(); e.Budget > 0 && now.Sub(began)+now.Sub(roundBegan) > e.Budget {
			return Spent
		}
	}
	return Exhausted
}

// round runs the program once under each setting; false if ctx was done before the end.
func (e *Experiment) round(ctx context.Context, settings []*Outcomes, n int) bool {
	for _, s := range settings {
		if e.Progress != nil {
			e.Progress(s.Setting, n)
		}
		run := e.Run(ctx, s.Setting, n)
		if ctx.Err() != nil {
			return false
		}
		run.Round = n
		s.Runs = append(s.Runs, run)
	}
	return true
}
