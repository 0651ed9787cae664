package collect

import (
	"errors"
	"os"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// result summarizes the written trace; nil if there is none.
func (c *capture) result() (*Result, error) {
	if c.out == nil || c.out.Size() == 0 || c.out.Held() {
		return nil, nil
	}
	r := &Result{
		Path: c.path, Size: c.out.Size(), Regular: c.out.Regular() && !errors.Is(c.failed, ErrGone), Plan: c.plan, Config: &c.session.Config,
		Triggered: c.trigger != nil, Joined: c.ring != nil, RingCut: c.ring != nil && c.ring.Cut(),
		Followed: c.collections.Load(), Failed: c.failed, Stopped: c.stopped, Broken: c.broken, Displaced: c.displaced,
		Exited: !c.session.Stopped() && !c.displaced && c.broken == nil,
	}
	if c.ring == nil {
		r.Trace, r.Found, r.Collections = c.reader, c.found.Judge(findings.TraceOf(c.reader)), r.Followed
		return r, nil
	}
	return r, r.review()
}

// review reads the file that was made of a ring.
func (r *Result) review() error {
	f, err := os.Open(r.Path)
	if err != nil {
		return &ReviewError{r.Path, err}
	}
	defer f.Close()
	return r.examine(nettrace.NewReader(f, nettrace.Options{Want: gc.Wants}))
}

// examine reads the trace to its end. The error is a *ReviewError.
func (r *Result) examine(src trace.Source) (err error) {
	r.Trace, r.Collections = src, 0
	if r.Found, err = findings.Examine(src, findings.Options{}); err != nil {
		err = &ReviewError{r.Path, err}
	}
	for _, found := range r.Found {
		r.Collections += int64(found.Summary.All().Count)
	}
	return err
}
