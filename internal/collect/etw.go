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
	"github.com/gctrail/gctrail/internal/etwsession"
)

var (
	// ErrNoETW reports a system without Event Tracing for Windows.
	ErrNoETW = errors.New("ETW sessions need 64-bit Windows")
	// ErrNoGUID reports a provider that has no GUID that is known.
	ErrNoGUID = errors.New("its GUID is not known: give it as {xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}")
)

// An ETW records processes through Event Tracing for Windows: all of them in one
// session with a file of its own, which it reads while Windows writes it. It can
// record .NET Framework processes too.
type ETW struct {
	System    etwsession.System
	Processes []*diag.Process // nil means all of the machine
	Options   *Options        // but for Resume, Names and Stdout

	path        string
	since       time.Time
	follower    atomic.Pointer[etwsession.Follower]
	collections atomic.Int64
	longest     atomic.Int64 // pause, in nanoseconds
	ends        atomic.Int64 // when it does, after the trigger; 0 before, as Unix time in nanoseconds
	trigger     *Trigger
}

// Run records until ctx is done, the duration is over, the condition of the plan has
// been met, or all processes have ended.
func (e *ETW) Run(ctx context.Context) error {
	providers, err := e.providers()
	if err != nil {
		return err
	}
	paths := NewPaths(e.Options.Output)
	paths.ext = ".etl"
	if err := paths.makeFolder(); err != nil {
		return err
	}
	e.path = paths.Next(&diag.Process{Name: titleOf(e.Processes, "etw"), PID: os.Getpid()}, time.Now())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if e.Options.Duration > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, e.Options.Duration)
		defer end()
	}
	sessions, names, err := e.start(providers)
	if err != nil {
		return err
	}
	f, err := etwsession.Follow(ctx, sessions...)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Rundown = e.rundown()
	e.since = time.Now()
	e.follower.Store(f)
	e.Options.Notify(Recording{"ETW", e.Processes, e.path, e.Options.Plan, names})
	go awaitExit(ctx, stop, pidsOf(e.Processes), e.System.Runs)
	return e.follow(f, sessions[0], stop)
}

// start starts the sessions. That of the kernel, which names the processes, needs more
// rights; names is why it could not be started.
func (e *ETW) start(providers []etwsession.Provider) (sessions []*etwsession.Session, names, err error) {
	s, err := etwsession.Start(e.System, &etwsession.Options{
		Path: e.path, Providers: providers, PIDs: pidsOf(e.Processes), BufferMB: e.Options.Config.BufferMB,
	})
	if err != nil {
		return nil, nil, err
	}
	kernel, names := etwsession.StartKernel(e.System, etwsession.KernelPath(e.path))
	if names != nil {
		return []*etwsession.Session{s}, names, nil
	}
	return []*etwsession.Session{s, kernel}, nil, nil
}

// follow reads what the sessions write to their end.
func (e *ETW) follow(f *etwsession.Follower, s *etwsession.Session, stop func()) error {
	var found findings.Set
	reader := f.Reader(etl.Options{Want: gc.Wants})
	model := gc.Model{Live: true}
	plan := e.Options.Plan
	for c, err := range model.Collections(reader) {
		if err != nil {
			return errors.Join(&ReviewError{e.path, err}, f.Stop())
		}
		found.Add(c)
		e.collections.Add(1)
		e.longest.Store(max(e.longest.Load(), int64(c.Pause().Or(0))))
		if e.trigger == nil && plan.Until != nil && plan.Until.Holds(c) {
			e.triggered(met(c), stop)
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	info, err := os.Stat(e.path)
	if err != nil {
		return outputFailed(e.path, err)
	}
	loss := s.Loss()
	e.Options.Notify(Ended{&Result{
		Path: e.path, Size: info.Size(), Regular: true, Plan: plan, Config: &e.Options.Config, Triggered: e.trigger != nil,
		ETW: &loss, Trace: reader, Found: found.Judge(findings.TraceOf(reader)), Collections: e.collections.Load(),
	}})
	return nil
}

// triggered has the trace end a while after what it was waiting for.
func (e *ETW) triggered(t *Trigger, stop func()) {
	e.trigger = t
	after := e.Options.Plan.After
	process := &diag.Process{PID: int(t.Collection.Process.PID), Name: t.Collection.Process.Name}
	e.Options.Notify(Triggered{process, t, e.path, e.Options.Plan})
	e.ends.Store(time.Now().Add(after).UnixNano())
	time.AfterFunc(after, stop)
}

// Status returns how far recording has come.
func (e *ETW) Status() Status {
	f := e.follower.Load()
	if f == nil {
		return Status{}
	}
	c := CaptureStatus{
		Process: &diag.Process{Name: titleOf(e.Processes, "etw")}, Plan: e.Options.Plan, Bytes: f.Bytes(),
		Collections: e.collections.Load(), Longest: time.Duration(e.longest.Load()),
	}
	if ends := e.ends.Load(); ends > 0 {
		c.Ends = time.Unix(0, ends)
	}
	return Status{Elapsed: time.Since(e.since), Captures: []CaptureStatus{c}}
}

// providers are those that are asked for, as ETW names them.
func (e *ETW) providers() ([]etwsession.Provider, error) {
	var all []etwsession.Provider
	for _, p := range e.Options.Config.Providers {
		guid, ok := guidOf(p.Name)
		if !ok {
			return nil, fmt.Errorf("provider %s: %w", p.Name, ErrNoGUID)
		}
		all = append(all, etwsession.Provider{
			GUID: guid, Level: p.Level, Keywords: p.Keywords, Stacks: !e.Options.Config.NoStacks,
			Events: eventIDs(p.Events), Except: eventIDs(p.Except),
		})
	}
	return all, nil
}

// rundown is the provider that lists methods at the end, so that stacks have names; nil
// if there are no stacks.
func (e *ETW) rundown() *etwsession.Provider {
	c := &e.Options.Config
	if c.NoStacks || c.Rundown == 0 {
		return nil
	}
	return &etwsession.Provider{GUID: clr.RundownGUID, Level: 5, Keywords: c.Rundown}
}

// eventIDs converts ids of events; those of ETW have 16 bits.
func eventIDs(ids []uint32) []uint16 {
	var narrow []uint16
	for _, id := range ids {
		narrow = append(narrow, uint16(id))
	}
	return narrow
}

// guidOf returns the GUID of a provider of the runtime, or that in braces.
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
