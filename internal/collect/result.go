package collect

import (
	"os"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/nettrace"
)

// result returns what a capture has written; nil if that is nothing.
func (c *capture) result() (*Result, error) {
	if c.out == nil || c.out.Size() == 0 {
		return nil, nil
	}
	r := &Result{
		Path: c.path, Size: c.out.Size(), Regular: c.out.Regular(), Plan: c.plan, Config: &c.session.Config,
		Triggered: c.trigger != nil, Joined: c.ring != nil, RingCut: c.ring != nil && c.ring.Cut(),
		Failed: c.failed, Stopped: c.stopped, Broken: c.broken, Displaced: c.displaced,
	}
	if c.ring == nil {
		r.Trace, r.Found, r.Collections = c.reader, &c.found, c.collections.Load()
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
	r.Trace, r.Found = nettrace.NewReader(f, nettrace.Options{Want: gc.Wants}), new(findings.Case)
	var m gc.Model
	for col, err := range m.Collections(r.Trace) {
		if err != nil {
			return &ReviewError{r.Path, err}
		}
		r.Found.Add(col)
		r.Collections++
	}
	return nil
}
