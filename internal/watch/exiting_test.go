package watch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/internal/watch"
)

// An exiting program closes its trace as soon as it is watched. Further scans find it until its
// socket is gone, but its runtime refuses sessions.
type exiting struct {
	running, refusing string // addresses of its socket before and after it has closed its trace

	mu    sync.Mutex
	runs  bool
	scans int // that still find it once it does not run any more
}

// exit returns a program that exits.
func exit(t *testing.T, runs bool, scans int) *exiting {
	whole := tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
	refusing := dotnettest.NewRuntime(nil, nil)
	refusing.Refusal = uint32(diag.Fail) // as a runtime that shuts down answers
	return &exiting{running: dotnettest.NewRuntime(whole, nil).Listen(t), refusing: refusing.Listen(t), runs: runs, scans: scans}
}

func (e *exiting) list(context.Context) []*diag.Process {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &diag.Process{PID: 7, InnerPID: 7, Name: "web", Info: &diag.Info{Cookie: diag.Cookie{7}}, Address: e.running}
	if e.runs {
		return []*diag.Process{p}
	}
	if e.scans--; e.scans < 0 {
		return nil
	}
	p.Address = e.refusing
	return []*diag.Process{p}
}

// watch returns the news of the program, except for its collections.
func (e *exiting) watch(ctx context.Context) (news []string) {
	w := watch.New(watch.Options{
		Source: watch.Source{List: e.list}, UntilEnded: true,
		Each: func(n *watch.News) {
			switch {
			case n.Attached:
				news = append(news, "attached")
				time.Sleep(watch.Interval / 2) // so that it exits between two scans
			case n.Ended:
				e.mu.Lock()
				e.runs = false
				e.mu.Unlock()
				news = append(news, fmt.Sprint("ended: ", n.Err))
			case n.Err != nil:
				news = append(news, fmt.Sprint("not watched: ", errors.Is(n.Err, diag.Fail)))
			}
		},
	})
	w.Run(ctx)
	return news
}

// TestExiting: a program that closes its trace has ended if its socket disappears soon. If later
// scans still find it, the watcher attaches to it again, and reports it if it refuses.
func TestExiting(t *testing.T) {
	for scans := range 4 {
		e := exit(t, true, scans)
		want := []string{"attached", "ended: <nil>"}
		if scans == 3 {
			want = append(want, "not watched: true")
		}
		synctest.Test(t, func(t *testing.T) {
			if news := e.watch(t.Context()); !slices.Equal(news, want) {
				t.Errorf("found %d times while it exits: %q, want %q", scans, news, want)
			}
		})
	}
}

// TestExitsBefore: a program that exits while the watcher attaches to it is not reported, because
// it was never watched.
func TestExitsBefore(t *testing.T) {
	for scans := 1; scans <= 2; scans++ {
		e := exit(t, false, scans)
		var want []string
		if scans == 2 {
			want = []string{"not watched: true"}
		}
		synctest.Test(t, func(t *testing.T) {
			if news := e.watch(t.Context()); !slices.Equal(news, want) {
				t.Errorf("found %d times: %q, want %q", scans, news, want)
			}
		})
	}
}
