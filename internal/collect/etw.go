package collect

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/etw"
)

var (
	// ErrNoETW reports a system without Event Tracing for Windows.
	ErrNoETW = errors.New("ETW sessions need 64-bit Windows")
	// ErrNoGUID reports a provider that has no GUID that is known.
	ErrNoGUID = errors.New("its GUID is not known: give it as {xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}")
)

// An ETW records processes through Event Tracing for Windows. One session records all of
// them to one file, which is read while Windows writes it. It can record .NET Framework
// processes too.
type ETW struct {
	System    etw.System
	Processes []*diag.Process // nil means all of the machine
	Options   *Options        // but for Resume, Names and Stdout

	since   time.Time
	current atomic.Pointer[etwCapture]
}

// An etwCapture is one trace of an ETW.
type etwCapture struct {
	awaited
	etw      *ETW
	path     string
	sessions []*etw.Session
	follower *etw.FileFollower
	reader   *etl.Reader
	found    findings.Set
}

// Run records until ctx is done, the duration is over, each file of the plan has its
// trigger, or all processes have ended.
func (e *ETW) Run(ctx context.Context) error {
	providers, err := e.providers()
	if err != nil {
		return err
	}
	path, err := e.Options.path(titleOf(e.Processes, "etw"), ".etl")
	if err != nil {
		return err
	}
	ctx, stop := e.Options.bounded(ctx)
	defer stop()
	go awaitExit(ctx, stop, pidsOf(e.Processes), e.System.Runs)
	e.since = time.Now()
	for nth := 1; ; nth++ {
		c, err := e.record(ctx, providers, numbered(path, nth, e.Options.Plan.Files))
		if err != nil || c.trigger == nil || ctx.Err() != nil || nth >= e.Options.Plan.Files {
			return err
		}
	}
}

// record makes one trace.
func (e *ETW) record(ctx context.Context, providers []etw.Provider, path string) (*etwCapture, error) {
	c := &etwCapture{etw: e, path: path}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.awaited = awaited{plan: e.Options.Plan, notify: e.Options.Notify, cancel: cancel, met: c.met}
	names, err := c.start(providers)
	if err != nil {
		return nil, err
	}
	if c.follower, err = etw.FollowFiles(ctx, c.sessions...); err != nil {
		return nil, err
	}
	defer c.follower.Close()
	c.follower.Rundown = e.rundown()
	c.follower.Say(func(text string) { e.Options.Notify(Shortened{text}) })
	e.current.Store(c)
	e.Options.Notify(Recording{Tracer: "ETW", Processes: e.Processes, Path: path, Plan: e.Options.Plan, Unnamed: names})
	err = c.follow()
	r, lacks := c.result()
	if r != nil {
		e.Options.Notify(Ended{r})
	}
	return c, errors.Join(err, lacks)
}

// start starts the sessions. The kernel's session names processes and, for stacks, native
// code; it needs more rights, and names is why it could not be started. It keeps all of its
// events, because they are few.
func (c *etwCapture) start(providers []etw.Provider) (names, err error) {
	o := &etw.Options{
		Path: c.path, Providers: providers, PIDs: pidsOf(c.etw.Processes), BufferMB: c.etw.Options.Config.BufferMB,
	}
	if c.plan.Ring {
		o.Limits = c.plan.Keep
	}
	s, err := etw.Start(c.etw.System, o)
	if err != nil {
		return nil, err
	}
	c.sessions = []*etw.Session{s}
	kernel, names := etw.StartKernel(c.etw.System, etw.KernelPath(c.path), etw.Limits{}, !c.etw.Options.Config.NoStacks)
	if names == nil {
		c.sessions = append(c.sessions, kernel)
	}
	return names, nil
}

// follow reads the output of the sessions to its end.
func (c *etwCapture) follow() error {
	c.reader = c.follower.Reader(etl.Options{Want: c.wants})
	model := gc.Model{Live: true}
	for col, err := range model.Collections(c.reader, c.models()...) {
		if err != nil {
			return errors.Join(&ReviewError{c.path, err}, c.follower.Stop())
		}
		c.found.Add(col)
		c.finished(col)
	}
	return c.follower.Err()
}

// met records the trigger of the trace.
func (c *etwCapture) met(t *Trigger) {
	process := &diag.Process{PID: int(t.PID)}
	if t.Collection != nil {
		process.PID, process.Name = int(t.Collection.Process.PID), t.Collection.Process.Name
	} else if p, ok := c.reader.Info().Processes[t.PID]; ok {
		process.Name = p.Name
	}
	if c.plan.Ring {
		c.follower.Hold(c.from(t))
	}
	c.notify(Triggered{process, t, c.path, c.plan})
}

// from returns the start of the retained time, for a trace with or without a trigger.
func (c *etwCapture) from(t *Trigger) time.Time {
	end := time.Now()
	if t != nil {
		end = c.reader.Info().Start.Add(t.From)
	}
	if c.plan.Before == 0 {
		return time.Time{} // all that there is
	}
	return end.Add(-c.plan.Before)
}

// result writes the file, and summarizes it. The error is also why the trace ended early.
func (c *etwCapture) result() (*Result, error) {
	if err := c.follower.Join(c.from(c.trigger)); err != nil {
		if left := c.follower.Left(); len(left) > 0 {
			c.notify(InPieces{left})
		}
		return nil, OutputFailed(c.path, err)
	}
	if len(c.sessions) == 1 {
		_ = os.Remove(etw.KernelPath(c.path)) // of an earlier trace at the path
	}
	info, err := os.Stat(c.path)
	if err != nil {
		return nil, OutputFailed(c.path, err)
	}
	loss := c.follower.Loss()
	r := &Result{
		Path: c.path, Size: info.Size(), Regular: true, Plan: c.plan, Config: &c.etw.Options.Config, Triggered: c.trigger != nil,
		Joined: c.plan.Ring, RingCut: c.follower.Cut(), ETW: &loss, Kernel: c.follower.OtherLoss(),
		Trace: c.reader, Found: c.found.Judge(findings.TraceOf(c.reader)), Collections: c.collections.Load(),
	}
	switch end := c.follower.End(); {
	case errors.Is(end, etw.ErrDiskFull):
		r.Failed = OutputFailed(c.path, end)
	case end != nil:
		r.Displaced = true
	}
	if c.plan.Ring {
		err = c.review(r)
	}
	return r, errors.Join(r.Failed, err)
}

// review reads the files that were made of a ring.
func (c *etwCapture) review(r *Result) error {
	var files []etl.File
	for _, s := range c.sessions {
		f, err := os.Open(s.Path())
		if err != nil {
			return &ReviewError{s.Path(), err}
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return &ReviewError{s.Path(), err}
		}
		files = append(files, etl.File{ReaderAt: f, Size: info.Size(), Name: s.Path()})
	}
	return r.examine(etl.NewMergedReader(files, etl.Options{Want: gc.Wants}))
}

// Status returns the progress of the recording.
func (e *ETW) Status() Status {
	c := e.current.Load()
	if c == nil {
		return Status{}
	}
	s := c.status(&diag.Process{Name: titleOf(e.Processes, "etw")}, c.follower.Bytes())
	return Status{Elapsed: time.Since(e.since), Captures: []CaptureStatus{s}}
}

// providers returns the requested providers as ETW names them.
func (e *ETW) providers() ([]etw.Provider, error) {
	var all []etw.Provider
	for _, p := range e.Options.Config.Providers {
		guid, ok := guidOf(p.Name)
		if !ok {
			return nil, fmt.Errorf("provider %s: %w", p.Name, ErrNoGUID)
		}
		all = append(all, etw.Provider{
			GUID: guid, Level: p.Level, Keywords: p.Keywords, Stacks: !e.Options.Config.NoStacks,
			Events: p.Events, Except: p.Except,
		})
	}
	return all, nil
}

// rundown is the provider that lists methods at the end, so that stacks have names; nil
// if there are no stacks.
func (e *ETW) rundown() *etw.Provider {
	c := &e.Options.Config
	if c.NoStacks || c.Rundown == 0 {
		return nil
	}
	return &etw.Provider{GUID: clr.RundownGUID, Level: 5, Keywords: c.Rundown}
}

// guidOf returns the GUID of a provider of the runtime, or the GUID in braces.
func guidOf(name string) (guid clr.GUID, ok bool) {
	for _, g := range [...]clr.GUID{clr.RuntimeGUID, clr.PrivateGUID, clr.RundownGUID, clr.StressGUID, clr.NativeAOTGUID} {
		if known, _ := clr.ProviderByGUID(g); strings.EqualFold(name, known) {
			return g, true
		}
	}
	digits := strings.ReplaceAll(strings.Trim(name, "{}"), "-", "")
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != len(guid) {
		return guid, false
	}
	copy(guid[:], b) // the first three numbers are little-endian in memory
	slices.Reverse(guid[0:4])
	slices.Reverse(guid[4:6])
	slices.Reverse(guid[6:8])
	return guid, true
}
