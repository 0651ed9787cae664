package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/selection"
)

// A Program is what is run, and how its work is found.
type Program struct {
	Args []string
	// Work finds the amount of work in the output of the program or of the load; nil for
	// none.
	Work *regexp.Regexp
	// Load is a command for the shell, run beside the program, which is asked to end when the
	// load has ended; empty for none. It starts when a line of the program's output matches
	// Ready, or readyTime after the program.
	Load  string
	Ready *regexp.Regexp
	// Timeout is how long a run may take; 0 is without limit.
	Timeout  time.Duration
	Requests bool
	Folder   string // of traces and output
}

// DefaultReady matches the line that ASP.NET Core writes when it accepts requests.
var DefaultReady = regexp.MustCompile(`(?i)now listening on|application started`)

// readyTime is how long a program that does not write that it is ready has to become so.
const readyTime = 10 * time.Second

// bufferMB is the size of the runtime's buffer of events, as of collect.
const bufferMB = 256

// An attempt is a run of the program that goes on.
type attempt struct {
	*Program
	path    string // of its files, without their suffix
	output  *outfile.File
	finder  *comparison.WorkFinder
	results []*collect.Result
	errs    []error
	mu      sync.Mutex // of results and errs

	began, ended time.Time
	memory       peak
	ready        chan struct{}
	stop         chan struct{}
	why          Outcome // why it was asked to end; Completed if it was not, or the load has ended
	loaded       error   // why the load failed
	seen         sync.Once
}

// Run runs the program once under a setting, with tracing, and measures the run.
func (p *Program) Run(ctx context.Context, s *Setting, round int) Run {
	a := &attempt{
		Program: p, path: filepath.Join(p.Folder, fileName(s.Name)+"-"+strconv.Itoa(round)),
		ready: make(chan struct{}), stop: make(chan struct{}),
	}
	if err := os.MkdirAll(p.Folder, 0o777); err != nil {
		return Run{Outcome: Unmeasured, Reason: err.Error(), Values: Unknown()}
	}
	run := a.run(ctx, s)
	if run.Outcome == Unmeasured && run.Reason == "" {
		run.Reason = "it was not traced"
	}
	return run
}

// fileName returns a name for files of a setting.
func fileName(name string) string {
	if name == Present {
		return "present"
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, name)
}

// run runs the program and its load, and reads the trace.
func (a *attempt) run(ctx context.Context, s *Setting) Run {
	run := Run{Values: Unknown(), Output: a.path + ".out"}
	output, err := outfile.Create(run.Output, 0o666, nil)
	if err != nil {
		run.Outcome, run.Reason = Unmeasured, err.Error()
		return run
	}
	defer output.Close()
	a.output, a.finder = output, &comparison.WorkFinder{Pattern: a.Work}
	lines := &readyLines{pattern: a.Ready, found: func() { a.seen.Do(func() { close(a.ready) }) }}
	out, errs := a.finder.Stream(), a.finder.Stream()
	command := &collect.Command{
		Args: args(a.Args, s), Env: environment(s), Alone: true, Stop: a.stop,
		Out: tee{output, out, lines}, Err: tee{output, errs},
	}
	var load sync.WaitGroup
	over, end := context.WithCancel(ctx)
	command.Started = func(pid int) {
		a.began = time.Now()
		a.memory.follow(over, pid)
		load.Go(func() { a.attend(over) })
	}
	err = a.supervise().Launch(ctx, command)
	end()
	load.Wait()
	if a.ended.IsZero() {
		a.ended = command.Ended
	}
	a.memory.wait()
	out.End()
	errs.End()
	_ = output.Commit() // what the program wrote is only for people
	a.outcome(&run, err, command.State)
	if run.Outcome == Completed {
		a.measure(&run, command.State)
	}
	return run
}

// args returns the command line under a setting: the host of another runtime is the one in
// its folder.
func args(of []string, s *Setting) []string {
	all := slices.Clone(of)
	if host := strings.TrimSuffix(filepath.Base(all[0]), ".exe"); s.Runtime != "" && host == "dotnet" {
		all[0] = filepath.Join(s.Runtime, filepath.Base(all[0]))
	}
	return all
}

// environment returns the variables of a setting: with both prefixes, because runtimes
// before .NET 6 read COMPlus_ only, and later ones prefer DOTNET_.
func environment(s *Setting) []string {
	var all []string
	for _, v := range s.Variables {
		all = append(all, "DOTNET_"+v.Name+"="+v.Value, "COMPlus_"+v.Name+"="+v.Value)
	}
	if s.Runtime != "" {
		all = append(all, "DOTNET_ROOT="+s.Runtime)
	}
	return all
}

// supervise returns a supervisor whose results the attempt keeps.
func (a *attempt) supervise() *collect.Supervisor {
	request := collect.Request{Profiles: []string{selection.GCCollect}, BufferMB: bufferMB, Requests: a.Requests}
	config, _ := request.Config()
	return collect.New(&collect.Options{
		Config: config, Resume: true, Output: a.path + string(filepath.Separator), Plan: (&collect.Stop{Files: 1}).Plan(),
		Notify: func(n collect.Notice) {
			a.mu.Lock()
			defer a.mu.Unlock()
			switch n := n.(type) {
			case collect.Ended:
				a.results = append(a.results, n.Result)
			case collect.Failed:
				a.errs = append(a.errs, n.Err)
			}
		},
	})
}

// attend runs the load when the program is ready, and ends the run when the load has ended
// or the time is over.
func (a *attempt) attend(ctx context.Context) {
	var over <-chan time.Time
	if a.Timeout > 0 {
		timer := time.NewTimer(a.Timeout)
		defer timer.Stop()
		over = timer.C
	}
	loaded := make(chan error, 1)
	if a.Load != "" {
		loading, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { loaded <- a.load(loading) }()
	}
	select {
	case err := <-loaded:
		if ctx.Err() == nil { // otherwise the program ended first
			a.ended, a.loaded = time.Now(), err
			a.end(Completed)
		}
	case <-over:
		a.end(TimedOut)
	case <-ctx.Done():
	}
}

// end asks the program to end.
func (a *attempt) end(why Outcome) {
	a.why = why
	close(a.stop)
}

// outcome records how a run ended.
func (a *attempt) outcome(run *Run, err error, state *os.ProcessState) {
	stopped := a.Load != "" && isClosed(a.stop)
	child, exited := errors.AsType[*collect.ChildError](err)
	switch {
	case a.why == TimedOut:
		run.Outcome, run.Reason = TimedOut, fmt.Sprintf("it did not end within %v", a.Timeout)
		if a.Load == "" {
			run.Reason += "; a server needs --load"
		}
	case stopped && a.loaded != nil:
		run.Outcome, run.Reason = Unmeasured, "the load failed: "+a.loaded.Error()
	case stopped:
	case exited:
		run.Outcome, run.Code, run.Reason = Failed, child.Code, fmt.Sprintf("exit code %d", child.Code)
	case a.Load != "":
		run.Outcome, run.Reason = Failed, "it ended before the load did"
	}
	if run.Outcome == Completed && len(a.results) == 0 {
		run.Outcome = Unmeasured
		run.Reason = cmp.Or(errors.Join(append(a.errs, err)...), errors.New("it was not traced")).Error()
	}
	if state == nil && run.Outcome == Completed {
		run.Outcome = Unmeasured
	}
	a.adopt(run)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// adopt gives the trace of the busiest process the name of the run.
func (a *attempt) adopt(run *Run) {
	if len(a.results) == 0 {
		_ = os.Remove(a.path)
		return
	}
	busiest := slices.MaxFunc(a.results, func(x, y *collect.Result) int { return cmp.Compare(x.Collections, y.Collections) })
	run.Trace = a.path + ".nettrace"
	if err := os.Rename(busiest.Path, run.Trace); err != nil {
		run.Trace = busiest.Path
	}
	_ = os.Remove(a.path) // which is not empty if other processes were traced
}
