package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/watch"
)

// A Rule makes the agent capture processes with a collection that meets a condition.
type Rule struct {
	Name     string        `yaml:"name"`
	When     string        `yaml:"when"`     // as collect --until has it: pause>200ms
	Names    []string      `yaml:"names"`    // patterns of processes; none means all
	Profile  string        `yaml:"profile"`  // of collect; gc-verbose if it is empty
	Duration time.Duration `yaml:"duration"` // of the capture; 30 s if it is zero
	Dump     bool          `yaml:"dump"`     // a heap snapshot in place of a trace
	Every    time.Duration `yaml:"every"`    // at most one capture of a process in this time; 10 min if it is zero, an hour of snapshots
}

const (
	defaultProfile = "gc-verbose"
	defaultCapture = 30 * time.Second
	defaultEvery   = 10 * time.Minute
	// defaultDumpEvery is longer, because a snapshot pauses the process.
	defaultDumpEvery = time.Hour
)

// A rule is a Rule that can be applied.
type rule struct {
	Rule
	condition *selection.Condition
	names     patterns
}

func compileRule(r *Rule) (*rule, error) {
	c := &rule{Rule: *r}
	var err error
	if c.condition, err = selection.ParseCondition(r.When); err != nil {
		return nil, fmt.Errorf("when: %w", err)
	}
	if c.condition.OfRequests() {
		return nil, fmt.Errorf("when: %s is of requests, which rules of the agent do not wait for", r.When)
	}
	if c.names.names, err = globs("names", r.Names); err != nil {
		return nil, err
	}
	if c.Dump {
		c.Every = cmp.Or(c.Every, defaultDumpEvery)
		if c.Profile != "" || c.Duration != 0 {
			return nil, errors.New("a snapshot (dump) has no profile and no duration")
		}
		return c, nil
	}
	c.Profile = cmp.Or(c.Profile, defaultProfile)
	c.Duration = cmp.Or(c.Duration, defaultCapture)
	c.Every = cmp.Or(c.Every, defaultEvery)
	return c, checkCapture(c.Profile, c.Duration)
}

// checkCapture returns the fault of the profile or the length of a capture.
func checkCapture(profile string, d time.Duration) error {
	if !slices.Contains(collect.ProfileNames(), profile) {
		return fmt.Errorf("unknown profile %q", profile)
	}
	if d <= 0 || d > longestCapture {
		return fmt.Errorf("the duration must be positive, and at most %v", longestCapture)
	}
	return nil
}

func (c *Config) rules() ([]*rule, error) {
	var all []*rule
	var errs []error
	for i := range c.Rules {
		r, err := compileRule(&c.Rules[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("rules: %s: %w", c.Rules[i].Name, err))
		}
		all = append(all, r)
	}
	return all, errors.Join(errs...)
}

// met returns the captures that a collection triggers, and records the time.
func (a *Agent) met(p *process, c *watch.Collection, now time.Time) (wanted []*captureRequest) {
	for i, r := range a.rules {
		if !r.names.match(p.Name) || !r.condition.Holds(c.Collection) {
			continue
		}
		if p.captured == nil {
			p.captured = make(map[int]time.Time)
		}
		if last, before := p.captured[i]; before && now.Sub(last) < r.Every {
			continue
		}
		p.captured[i] = now
		wanted = append(wanted, &captureRequest{process: p, dump: r.Dump, profile: r.Profile, duration: r.Duration, rule: r.Name, index: i, gc: c.Number})
	}
	return wanted
}

// postponed reports whether a snapshot that a rule asks for was not begun, because one of
// another process is being taken. The rule may then be met again at once. The caller holds
// the lock.
func (a *Agent) postponed(r *captureRequest, err error) bool {
	if r.rule == "" || !errors.Is(err, errDumping) {
		return false
	}
	delete(r.process.captured, r.index)
	return true
}

// start makes captures in the background.
func (a *Agent) start(ctx context.Context, wanted []*captureRequest) {
	for _, r := range wanted {
		a.capturing.Go(func() { _, _ = a.keep(ctx, r) }) // keep reports the result
	}
}
