package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/lttng"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

var (
	// ErrNoTracepoints reports a provider that raises no events through LTTng.
	ErrNoTracepoints = errors.New("only the runtime's own events go through LTTng")
	// ErrNoTracer reports a session in which no process has registered with LTTng.
	ErrNoTracer = errors.New("no .NET process has sent events to LTTng")
)

// An LTTng records processes through LTTng. One session records all processes of the user
// to one folder, which is read after its end.
type LTTng struct {
	System    *lttng.System
	Processes []*diag.Process // nil means all of the user
	Options   *Options        // but for Resume, Names and Stdout

	lttngFolder
}

// An lttngFolder is where LTTng's events are stored.
type lttngFolder struct {
	path  atomic.Pointer[string] // nil before they are
	since time.Time
}

func (f *lttngFolder) begin(path string) {
	f.since = time.Now()
	f.path.Store(&path)
}

// status returns a Status that reports the size of the folder.
func (f *lttngFolder) status(title string, plan *Plan) Status {
	path := f.path.Load()
	if path == nil {
		return Status{}
	}
	c := CaptureStatus{Process: &diag.Process{Name: title}, Plan: plan, Bytes: sizeOf(*path)}
	return Status{Elapsed: time.Since(f.since), Captures: []CaptureStatus{c}}
}

// Run records until ctx is done, the duration is over, or all processes have ended.
func (l *LTTng) Run(ctx context.Context) error {
	events, err := tracepoints(l.Options.Config.Providers)
	if err != nil {
		return err
	}
	path, err := l.Options.path(titleOf(l.Processes, "lttng"), "")
	if err != nil {
		return err
	}
	s, err := lttng.Start(l.System, &lttng.Options{
		Path: path, Events: events, PIDs: innerPIDs(l.Processes), BufferMB: l.Options.Config.BufferMB,
	})
	if err != nil {
		return err
	}
	l.begin(path)
	l.Options.Notify(Recording{Tracer: "LTTng", Processes: l.Processes, Path: path, Plan: l.Options.Plan})
	l.await(ctx)
	if err := s.Stop(); err != nil {
		return err
	}
	return reviewFolder(path, l.Options)
}

// await waits until the session is to end.
func (l *LTTng) await(ctx context.Context) {
	ctx, stop := l.Options.bounded(ctx)
	defer stop()
	go awaitExit(ctx, stop, pidsOf(l.Processes), l.System.Runs)
	<-ctx.Done()
}

// reviewFolder reads the trace that LTTng wrote to a folder, and reports on it.
func reviewFolder(path string, o *Options) error {
	reader, err := ctf.Open(os.DirFS(path), ctf.Options{Want: gc.Wants, Resolve: clr.Tracepoint})
	if errors.Is(err, trace.ErrNotTrace) || errors.Is(err, fs.ErrNotExist) {
		return ErrNoTracer
	}
	if err != nil {
		return &ReviewError{path, err}
	}
	r := &Result{Path: path, Size: sizeOf(path), Regular: true, Plan: o.Plan, Config: &o.Config, LTTng: true}
	if err := r.examine(reader); err != nil {
		return err
	}
	o.Notify(Ended{r})
	return nil
}

// Status returns the progress of the recording.
func (l *LTTng) Status() Status { return l.status(titleOf(l.Processes, "lttng"), l.Options.Plan) }

// sizeOf returns the size of the files in a folder.
func sizeOf(folder string) (size int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // skip files that are not there yet
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// innerPIDs returns the ids of processes in their own namespaces, by which LTTng
// selects.
func innerPIDs(processes []*diag.Process) []int {
	return text.Each(processes, func(p **diag.Process) int { return cmp.Or((*p).InnerPID, (*p).PID) })
}

// tracepoints returns the names, in every version, of the events that providers would
// raise. It includes the oldest versions, because the runtime raises events with a
// keyword only if the oldest version of one of them is enabled too (gcenv.ee.cpp,
// UpdateGCEventStatus).
func tracepoints(providers []diag.Provider) ([]string, error) {
	var names []string
	for i := range providers {
		p := &providers[i]
		known := false
		for k := clr.KindUnknown + 1; int(k) < clr.NumKinds; k++ {
			if !strings.EqualFold(k.Provider(), p.Name) {
				continue
			}
			for version := range k.Versions() {
				c, ok := k.Tracepoint(version, 8)
				known = known || ok
				if ok && raises(p, k) {
					names = append(names, c.Name)
				}
			}
		}
		if !known {
			return nil, fmt.Errorf("provider %s: %w", p.Name, ErrNoTracepoints)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// raises reports whether a provider raises events of a kind.
func raises(p *diag.Provider, k clr.Kind) bool {
	leveled := p.Level == 0 || k.Level() <= p.Level
	chosen := k.Keywords() == 0 || k.Keywords()&p.Keywords != 0
	switch {
	case p.Events != nil:
		chosen = chosen && slices.Contains(p.Events, k.ID())
	case p.Except != nil:
		chosen = chosen && !slices.Contains(p.Except, k.ID())
	}
	return leveled && chosen
}
