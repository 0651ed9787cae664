package etw

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/live"
)

// A ProcessFollower follows the collections of .NET Framework processes, which have no
// diagnostic pipe, through one session for all of them, which runs while there are any. Its
// methods may be called concurrently.
type ProcessFollower struct {
	system System

	mu       sync.Mutex
	session  *Session            // nil while there is none
	end      context.CancelFunc  // of the session
	ended    chan struct{}       // is closed when it has
	ending   chan struct{}       // ended of the previous session; nil if that has ended
	watchers map[uint64]*watcher // by PID
}

// A watcher is who follows a process.
type watcher struct {
	process *diag.Process
	queue   chan *live.Update
	dropped int // since the last update

	over chan struct{} // is closed when the session has ended by itself
	err  error         // why
}

const (
	exitPoll = time.Second
	queued   = 1024
	// kept is how much of the session's events stays on disk.
	kept = 5 * time.Second
)

// provider is the runtime with the events of collections.
var provider = Provider{GUID: clr.RuntimeGUID, Level: 4, Keywords: clr.KeywordGC}

// NewProcessFollower returns one that has no session yet. It removes sessions and folders of
// killed ones.
func NewProcessFollower(system System) *ProcessFollower {
	removeOrphans(system)
	return &ProcessFollower{system: system, watchers: make(map[uint64]*watcher)}
}

// Needed reports whether only ETW sees a process.
func Needed(p *diag.Process) bool { return p.Address == "" && p.Info == nil }

// Followable returns processes, in which .NET Framework processes count as ones that can be
// followed.
func Followable(all []*diag.Process) []*diag.Process {
	list := make([]*diag.Process, len(all))
	for i, p := range all {
		if list[i] = p; errors.Is(p.Err, diag.ErrFramework) {
			reachable := *p // which is not to be changed
			reachable.Err = nil
			list[i] = &reachable
		}
	}
	return list
}

// Follow yields the collections of a process, a second or two after they have ended,
// until it exits or ctx is done. The error is the session's if it cannot be started.
func (f *ProcessFollower) Follow(ctx context.Context, p *diag.Process) iter.Seq2[*live.Update, error] {
	return func(yield func(*live.Update, error) bool) {
		w, err := f.join(p)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.leave(p)
		if !yield(&live.Update{Kind: live.Attached, Process: p}, nil) {
			return
		}
		tick := time.NewTicker(exitPoll)
		defer tick.Stop()
		var exited time.Time
		for {
			select {
			case u := <-w.queue:
				if !yield(u, nil) {
					return
				}
				continue
			case <-w.over:
			case <-ctx.Done():
			case now := <-tick.C:
				if exited.IsZero() && !f.system.Runs(p.PID) {
					exited = now
				}
				// Its last events are still to be written.
				if exited.IsZero() || now.Sub(exited) < 2*lag {
					continue
				}
			}
			w.end(yield)
			return
		}
	}
}

// end yields the remaining collections, and that no more will come.
func (w *watcher) end(yield func(*live.Update, error) bool) {
	for len(w.queue) > 0 { // nobody else takes any
		if !yield(<-w.queue, nil) {
			return
		}
	}
	u := &live.Update{Kind: live.Ended, Process: w.process}
	select {
	case <-w.over:
		u.Err = w.err
	default:
	}
	yield(u, nil)
}

// join adds a process to the followed ones.
func (f *ProcessFollower) join(p *diag.Process) (*watcher, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.ending != nil { // sessions of one name cannot run at once
		ending := f.ending
		f.mu.Unlock()
		<-ending
		f.mu.Lock()
		if f.ending == ending {
			f.ending = nil
		}
	}
	w := &watcher{process: p, queue: make(chan *live.Update, queued), over: make(chan struct{})}
	f.watchers[uint64(p.PID)] = w
	var err error
	if f.session == nil {
		err = f.start()
	} else {
		err = f.session.enable(&provider, f.pids())
	}
	if err != nil {
		delete(f.watchers, uint64(p.PID))
		return nil, err
	}
	return w, nil
}

// leave stops following a process, and ends the session with the last one.
func (f *ProcessFollower) leave(p *diag.Process) {
	f.mu.Lock()
	delete(f.watchers, uint64(p.PID))
	var ending chan struct{}
	switch {
	case f.session == nil:
	case len(f.watchers) > 0:
		_ = f.session.enable(&provider, f.pids()) // events of others do no harm
	default:
		f.end()
		ending = f.ended
		f.session, f.ending = nil, ending
	}
	f.mu.Unlock()
	if ending != nil {
		<-ending
	}
}

// pids returns the ids of the processes, nil if a session cannot select so many.
func (f *ProcessFollower) pids() []int {
	var pids []int
	for pid := range f.watchers {
		pids = append(pids, int(pid))
	}
	if len(pids) > MaxPIDs {
		return nil
	}
	return pids
}

// start starts the session.
func (f *ProcessFollower) start() error {
	folder, err := newFolder()
	if err != nil {
		return err
	}
	s, err := Start(f.system, &Options{
		Path: filepath.Join(folder, "top.etl"), Providers: []Provider{provider}, PIDs: f.pids(),
		Limits: Limits{Time: kept},
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	ctx, end := context.WithCancel(context.Background())
	files, err := FollowFiles(ctx, s)
	if err != nil {
		end()
		return errors.Join(err, os.RemoveAll(folder))
	}
	ended := make(chan struct{})
	f.session, f.end, f.ended = s, end, ended
	go func() {
		err := f.read(files, s)
		end()
		files.discard()
		err = errors.Join(err, os.RemoveAll(folder))
		close(ended)
		f.failed(s, err)
	}()
	return nil
}

// read passes on the collections of the processes.
func (f *ProcessFollower) read(files *FileFollower, s *Session) error {
	reader := files.Reader(etl.Options{Want: gc.Wants})
	model := gc.Model{Live: true}
	for c, err := range model.Collections(reader) {
		if err != nil {
			return errors.Join(err, files.Stop())
		}
		loss := s.Loss()
		f.pass(&live.Update{
			Kind: live.Collected, Collection: c, Start: reader.Info().Start,
			Lost: uint64(loss.Events) + uint64(loss.Buffers), // a lost buffer had an event or more
			Late: reader.Loss().Late,
		})
	}
	return errors.Join(files.Err(), ended(files.End()))
}

// ended names the disk in the error of a session that has ended by itself, if a disk is
// the reason.
func ended(err error) error {
	if errors.Is(err, ErrDiskFull) {
		return fmt.Errorf("%s: %w", os.TempDir(), err)
	}
	return err
}

// pass passes a collection to who follows its process.
func (f *ProcessFollower) pass(u *live.Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watchers[u.Collection.Process.PID]
	if w == nil {
		return
	}
	u.Process, u.Dropped = w.process, w.dropped
	select {
	case w.queue <- u:
		w.dropped = 0
	default:
		w.dropped++
	}
}

// failed records that a session has ended although processes are followed, because
// somebody has stopped it or it cannot be read.
func (f *ProcessFollower) failed(s *Session, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.session != s {
		return
	}
	f.session = nil
	for _, w := range f.watchers {
		w.err = err
		close(w.over)
	}
	clear(f.watchers)
}
