package cli

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/internal/collect"
)

// A collectTalk prints notices while traces are collected, besides the progress line.
type collectTalk struct {
	std    *stdio
	line   *progress
	target string // for the next trace of the same program

	mu   sync.Mutex
	errs []error // printed ones
}

// show starts to show the progress of collecting, beginning with waiting.
func (t *collectTalk) show(s interface{ Status() collect.Status }, waiting string) {
	t.line = t.std.show(func(time.Duration) string { return statusText(s.Status(), waiting) })
}

func (t *collectTalk) notify(n collect.Notice) {
	switch n := n.(type) {
	case collect.Failed:
		t.line.aside(func() { t.std.complain(n.Err) })
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, e := range flatten(n.Err) {
			t.errs = append(t.errs, &saidError{e})
		}
	case collect.Ended:
		t.line.aside(func() { t.std.printResult(n.Result, t.target) })
	case collect.Snapshot:
		t.line.aside(func() { t.std.printDump(n.Result) })
	default:
		t.line.aside(func() { t.std.warn("gctrail", noticeText(n)) })
	}
}

// finish joins err and the printed errors, in descending order of exit code.
func (t *collectTalk) finish(err error) error {
	t.line.stop()
	slices.SortStableFunc(t.errs, func(a, b error) int { return cmp.Compare(exitCodeOf(b), exitCodeOf(a)) })
	return errors.Join(err, errors.Join(t.errs...))
}
