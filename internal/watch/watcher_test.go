package watch_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

// A machine has processes that a test starts and ends, on the clock of the test.
type machine struct {
	mu      sync.Mutex
	running []*program
	stopped int           // traces that were asked to end
	slow    time.Duration // until processes are listed
}

// A program raises the updates that it is sent.
type program struct {
	*diag.Process
	updates chan *live.Update
	refuses error // to be attached to
	traced  *gc.Process
}

func (m *machine) start(pid int, name string) *program {
	p := &program{
		&diag.Process{PID: pid, Name: name, Started: time.Now(), Info: &diag.Info{Cookie: diag.Cookie{byte(pid), byte(pid >> 8)}}},
		make(chan *live.Update, 10_000), nil, &gc.Process{PID: uint64(pid), Name: name},
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = append(m.running, p)
	return p
}

// end ends a program: killed, or by itself.
func (m *machine) end(p *program, err error) {
	m.mu.Lock()
	m.running = slices.DeleteFunc(m.running, func(other *program) bool { return other == p })
	m.mu.Unlock()
	p.updates <- &live.Update{Kind: live.Ended, Process: p.Process, Err: err}
	close(p.updates)
}

func (m *machine) source() watch.Source {
	return watch.Source{
		List: func(context.Context) []*diag.Process {
			m.mu.Lock()
			defer m.mu.Unlock()
			defer time.Sleep(m.slow)
			list := make([]*diag.Process, len(m.running))
			for i, p := range m.running {
				copied := *p.Process
				// The time of a start is not found out to the tick.
				copied.Started = copied.Started.Add(time.Duration(i%2) * 20 * time.Millisecond)
				list[i] = &copied
			}
			return list
		},
		Follow: m.follow,
	}
}

func (m *machine) follow(ctx context.Context, p *diag.Process, opts live.Options) iter.Seq2[*live.Update, error] {
	m.mu.Lock()
	i := slices.IndexFunc(m.running, func(r *program) bool { return r.PID == p.PID })
	found, refuses := m.running[i], m.running[i].refuses
	m.mu.Unlock()
	return func(yield func(*live.Update, error) bool) {
		if refuses != nil {
			yield(nil, refuses)
			return
		}
		opts.Tap(p)
		if !yield(&live.Update{Kind: live.Attached, Process: p}, nil) {
			return
		}
		for {
			select {
			case u, open := <-found.updates:
				if !open || !yield(u, nil) || u.Kind == live.Ended {
					return
				}
			case <-ctx.Done():
				m.mu.Lock()
				m.stopped++
				m.mu.Unlock()
				yield(&live.Update{Kind: live.Ended, Process: p}, nil)
				return
			}
		}
	}
}

// collect makes a program collect: a pause that ends now, and sizes in MB.
func (p *program) collect(number uint32, generation int, pause time.Duration, before, after, allocated int64) {
	const mb = 1_000_000
	end := time.Since(p.Started)
	c := &gc.Collection{
		Process: p.traced, Number: number, Generation: gc.Some(generation), Kind: gc.Blocking,
		Reason: gc.Some(clr.GCReasonAllocSmall), Start: gc.Some(end - pause), End: gc.Some(end), PauseStart: gc.Some(end - pause),
		Pauses:    []gc.Pause{{Kind: gc.PauseBlocking, Start: end - pause, Duration: pause, Suspend: gc.Some(time.Duration(0))}},
		AllPauses: true, HeapBefore: gc.Some(before * mb), HeapAfter: gc.Some(after * mb), Allocated: gc.Some(allocated * mb),
		Generations: make([]gc.Generation, 5), Complete: true,
	}
	p.updates <- &live.Update{Kind: live.Collected, Process: p.Process, Collection: c, Start: p.Started}
}

// watching runs a watcher of a machine in a bubble until the test's end.
func watching(t *testing.T, m *machine, opts watch.Options) *watch.Watcher {
	opts.Source = m.source()
	w := watch.New(opts)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	synctest.Wait()
	return w
}

// after lets time pass, and returns the state then.
func after(w *watch.Watcher, d time.Duration) *watch.Snapshot {
	time.Sleep(d)
	synctest.Wait()
	return w.Snapshot()
}

// only returns the only process.
func only(t *testing.T, s *watch.Snapshot) *watch.Process {
	t.Helper()
	if len(s.Processes) != 1 {
		t.Fatalf("%d processes", len(s.Processes))
	}
	return s.Processes[0]
}

// TestP99 checks that of a hundred pauses of 1 to 100 ms, 99 are no longer than the 99th.
func TestP99(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		w := watching(t, m, watch.Options{})
		for i := range 100 {
			after(w, time.Second)
			web.collect(uint32(i+1), 0, time.Duration(i+1)*time.Millisecond, 50, 30, 20)
		}
		p := only(t, after(w, 0))
		if p.P99 != gc.Some(99*time.Millisecond) || p.Longest != gc.Some(100*time.Millisecond) {
			t.Errorf("p99 %v, longest %v", p.P99, p.Longest)
		}
	})
}

// TestFigures: the figures of a process follow from its collections and the time.
func TestFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		w := watching(t, m, watch.Options{})
		if p := only(t, w.Snapshot()); p.State != watch.Watched || p.Verdict != "" || p.Allocating.Known() || p.Last != nil {
			t.Errorf("before the first collection: %+v", p)
		}
		for i := range 20 {
			after(w, time.Second)
			web.collect(uint32(i+1), i%3, 100*time.Millisecond, 50, 30, 20)
		}
		p := only(t, after(w, 0))
		if p.Collections != 20 || p.ByGeneration != [3]int{7, 7, 6} || p.Last.Number != 20 || len(p.Recent) != 20 || p.Recent[0].Number != 1 {
			t.Errorf("%d collections, %v, %d recent", p.Collections, p.ByGeneration, len(p.Recent))
		}
		if p.Longest != gc.Some(100*time.Millisecond) || p.P99 != p.Longest {
			t.Errorf("longest %v, p99 %v", p.Longest, p.P99)
		}
		if p.Paused.Or(0) < 9.9 || p.Paused.Or(0) > 11.2 || p.Rate < 0.99 || p.Rate > 1.12 {
			t.Errorf("paused %v %%, %v a second", p.Paused.Or(0), p.Rate)
		}
		if p.PausedInAll.Or(0) < 9.9 || p.PausedInAll.Or(0) > 10.1 {
			t.Errorf("paused %v %% in all", p.PausedInAll.Or(0))
		}
		if p.Allocating != (stats.Rate{PerSecond: 20e6, Certainty: gc.Exact}) {
			t.Errorf("allocates %v bytes a second", p.Allocating)
		}
		if !strings.Contains(p.Verdict, "10.0 %") || len(p.Findings) == 0 {
			t.Errorf("%q, %d findings", p.Verdict, len(p.Findings))
		}
		last := p.History[len(p.History)-1]
		if last.Collections != 1 || last.After != gc.Some[int64](30e6) || last.Before != gc.Some[int64](50e6) {
			t.Errorf("the last second %+v", last)
		}

		p = only(t, after(w, 80*time.Second))
		if p.Paused != gc.Some(0.0) || p.Rate != 0 || p.PausedInAll.Or(0) > 2.1 || p.Allocating.PerSecond > 3e6 || p.Allocating.Certainty != gc.Estimate {
			t.Errorf("when idle: paused %v %%, %v %% in all, %v a second, allocates %v", p.Paused, p.PausedInAll, p.Rate, p.Allocating)
		}
	})
}

// TestComeAndGo: starting processes are found, ended ones are retained for a while, and
// the number of another process may be used again.
func TestComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		w := watching(t, m, watch.Options{})
		m.start(8, "api")
		if s := after(w, watch.Interval); len(s.Processes) != 2 || s.Processes[1].State != watch.Watched {
			t.Errorf("%d processes", len(s.Processes))
		}
		web.collect(1, 0, time.Millisecond, 2, 1, 1)
		m.end(web, live.ErrTruncated)
		s := after(w, watch.Interval)
		if p := s.Processes[0]; p.State != watch.Ended || !errors.Is(p.Problem, live.ErrTruncated) || p.Collections != 1 {
			t.Errorf("%+v", p)
		}
		ended := s.Processes[0].Until
		after(w, time.Minute)
		again := m.start(7, "web")
		again.Info.Cookie[5] = 1
		s = after(w, watch.Interval)
		if len(s.Processes) != 3 || s.Processes[2].State != watch.Watched || s.Processes[2].Collections != 0 {
			t.Fatalf("%d processes", len(s.Processes))
		}
		if p := s.Processes[0]; p.Until != ended {
			t.Errorf("what has ended goes on until %v", p.Until)
		}

		for range 20 {
			m.end(again, nil)
			again = m.start(7, "web")
			after(w, 2*watch.Interval)
		}
		if s = after(w, watch.Interval); len(s.Processes) > 11 {
			t.Errorf("%d processes are kept", len(s.Processes))
		}
	})
}

// TestEndsMeanwhile: a process that ends while the machine is scanned is not found again.
func TestEndsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		w := watching(t, m, watch.Options{})
		const slow = 500 * time.Millisecond
		m.mu.Lock()
		m.slow = slow
		m.mu.Unlock()
		after(w, watch.Interval+slow/2)
		web.updates <- &live.Update{Kind: live.Ended, Process: web.Process}
		close(web.updates)
		if p := only(t, after(w, slow)); p.State != watch.Ended {
			t.Errorf("%+v", p)
		}
	})
}

// TestRefused: a process that cannot be attached to is listed with the reason,
// and tried again.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		web.refuses = diag.ErrNoAnswer
		var news []*watch.News
		w := watching(t, m, watch.Options{Each: func(n *watch.News) { news = append(news, n) }})
		if p := only(t, after(w, time.Minute)); p.State != watch.Found || !errors.Is(p.Problem, diag.ErrNoAnswer) {
			t.Errorf("%v, %v", p.State, p.Problem)
		}
		if len(news) != 1 || !errors.Is(news[0].Err, diag.ErrNoAnswer) {
			t.Errorf("%d news of one refusal", len(news))
		}
		m.mu.Lock()
		web.refuses = nil
		m.mu.Unlock()
		if p := only(t, after(w, 2*time.Minute)); p.State != watch.Watched || p.Problem != nil {
			t.Errorf("%v, %v", p.State, p.Problem)
		}
	})
}

// TestBreaks: a process whose traces break off soon, again and again, is attached to at longer
// and longer intervals.
func TestBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		attached := 0
		w := watching(t, m, watch.Options{Each: func(n *watch.News) {
			if n.Attached {
				attached++
			}
		}})
		breaks := func(within time.Duration) (began int) {
			before := attached
			for range int(within / time.Second) {
				after(w, time.Second)
				select {
				case web.updates <- &live.Update{Kind: live.Ended, Process: web.Process, Err: live.ErrTruncated}:
				default:
				}
				synctest.Wait()
			}
			return attached - before
		}
		if few := breaks(10 * time.Minute); few < 10 || few > 20 {
			t.Errorf("attached %d times in ten minutes", few)
		}
	})
}

// TestSilent: a process that does not answer for a while stays the same process.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		w := watching(t, m, watch.Options{})
		info := web.Info
		m.mu.Lock()
		web.Info, web.Err = nil, diag.ErrStopped
		m.mu.Unlock()
		if p := only(t, after(w, watch.Interval)); p.State != watch.Watched || p.Problem != nil {
			t.Errorf("once: %+v", p)
		}
		if p := only(t, after(w, watch.Interval)); p.State != watch.Watched || p.Info == nil || !errors.Is(p.Problem, diag.ErrStopped) {
			t.Errorf("twice: %+v", p)
		}
		m.mu.Lock()
		web.Info, web.Err = info, nil
		m.mu.Unlock()
		if p := only(t, after(w, watch.Interval)); p.Problem != nil {
			t.Errorf("%v", p.Problem)
		}
	})
}

// TestMany: the number of processes attached to is limited, and others take the places of
// ended ones.
func TestMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		for i := range watch.MaxFollowed + 2 {
			m.start(i+1, "web")
		}
		w := watching(t, m, watch.Options{})
		left := 0
		for _, p := range w.Snapshot().Processes {
			if p.State == watch.Found && errors.Is(p.Problem, watch.ErrTooMany) {
				left++
			}
		}
		if left != 2 {
			t.Errorf("%d are left", left)
		}
		m.end(m.running[0], nil)
		m.end(m.running[0], nil)
		for _, p := range after(w, watch.Interval/100).Processes { // before the next look
			if p.State == watch.Found {
				t.Errorf("%d is left: %v", p.PID, p.Problem)
			}
		}
	})
}

// TestNews: all news arrive once and in order. For a slow caller, live drops collections,
// and their number arrives as news.
func TestNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		m.start(8, "api")
		var told []string
		w := watching(t, m, watch.Options{
			Wants: func(p *diag.Process) bool { return p.Name == "web" },
			Each: func(n *watch.News) {
				switch {
				case n.Attached:
					told = append(told, "attached")
				case n.Collection != nil:
					told = append(told, "collection")
				case n.Dropped > 0:
					told = append(told, "dropped")
				case n.Lost > 0:
					told = append(told, "lost")
				case n.Ended:
					told = append(told, "ended")
				}
			},
		})
		web.collect(1, 0, time.Millisecond, 2, 1, 1)
		web.updates <- &live.Update{Kind: live.Collected, Process: web.Process, Collection: &gc.Collection{Process: web.traced}, Start: web.Started, Dropped: 3, Lost: 5}
		m.end(web, nil)
		s := after(w, watch.Interval)
		want := []string{"attached", "collection", "dropped", "collection", "lost", "ended"}
		if !slices.Equal(told, want) {
			t.Errorf("%v, want %v", told, want)
		}
		if p := only(t, s); p.Dropped != 3 || p.Collections != 2 {
			t.Errorf("%d dropped, %d collections", p.Dropped, p.Collections)
		}
	})
}

// TestEnd: all traces are ended with the watch, and the watch ends with the last process
// if it is asked to.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		m.start(7, "web")
		m.start(8, "api")
		ctx, cancel := context.WithCancel(t.Context())
		w := watch.New(watch.Options{Source: m.source()})
		time.AfterFunc(time.Minute, cancel)
		w.Run(ctx)
		if m.stopped != 2 {
			t.Errorf("%d traces were ended", m.stopped)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		web := m.start(7, "web")
		w := watch.New(watch.Options{Source: m.source(), UntilEnded: true})
		time.AfterFunc(time.Minute, func() { m.end(web, nil) })
		begun := time.Now()
		w.Run(t.Context())
		if took := time.Since(begun); took < time.Minute || took > time.Minute+2*watch.Interval {
			t.Errorf("it took %v", took)
		}
	})
}

// TestPanic: who runs the watcher gets its panics.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		m.start(7, "web")
		w := watch.New(watch.Options{Source: m.source(), Each: func(*watch.News) { panic("no") }})
		defer func() {
			err, ok := recover().(error)
			if !ok || !strings.HasPrefix(err.Error(), "no\n") {
				t.Errorf("recovered %v", err)
			}
		}()
		w.Run(t.Context())
	})
}

func TestNothingToSave(t *testing.T) {
	if _, err := watch.New(watch.Options{}).Save(1, &bytes.Buffer{}); !errors.Is(err, watch.ErrNothingRecorded) {
		t.Errorf("saved: %v", err)
	}
}

// TestArrivals: a process that starts between two scans of the machine is followed at
// once, and only once.
func TestArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m machine
		source := m.source()
		source.Arrivals = func(ctx context.Context, arrived func(*diag.Process)) {
			time.Sleep(watch.Interval / 4)
			p := m.start(1, "short")
			arrived(p.Process)
			arrived(p.Process)
			time.Sleep(watch.Interval / 2)
			m.end(p, nil)
			<-ctx.Done()
		}
		var attached, ended int
		ctx, cancel := context.WithCancel(t.Context())
		w := watch.New(watch.Options{Source: source, Each: func(n *watch.News) {
			if n.Attached {
				attached++
			}
			if n.Ended {
				ended++
			}
		}})
		time.AfterFunc(5*watch.Interval, cancel)
		w.Run(ctx)
		if attached != 1 || ended != 1 {
			t.Errorf("attached %d times, ended %d times", attached, ended)
		}
	})
}
