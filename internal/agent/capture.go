package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/internal/outfile"
)

const (
	captureSuffix = ".nettrace"
	// maxCaptures bounds the captures at the same time.
	maxCaptures = 2
	// longestCapture bounds the length of one.
	longestCapture = 10 * time.Minute
	// captureBuffer is the runtime's buffer for one, in MB.
	captureBuffer = 64
	// endPatience is how long a runtime may take to end one.
	endPatience = 10 * time.Second
)

// Captures configures the traces that the agent keeps.
type Captures struct {
	Folder string `yaml:"folder"`      // empty for none
	Quota  int64  `yaml:"quota-bytes"` // of all captures; the oldest make room
}

// Reasons why a capture is not made.
var (
	errNoCaptures  = errors.New("no folder for captures is configured")
	errBusy        = errors.New("too many captures are already running")
	errNotFollowed = errors.New("no such process is followed")
	errTooLarge    = errors.New("the capture was cut off: it reached half of the quota")
	errDumping     = errors.New("a heap snapshot of another process is being taken")
)

// A captures makes captures, within the quota.
type captures struct {
	config Captures
	places chan struct{}
	mu     sync.Mutex // of the folder
	// dumping is held for a heap snapshot, so that a condition which all processes meet does
	// not pause them all at once.
	dumping sync.Mutex
}

func newCaptures(c Captures) *captures {
	return &captures{config: c, places: make(chan struct{}, maxCaptures)}
}

// A captureRequest asks for a trace of a process.
type captureRequest struct {
	process  *process
	dump     bool // a heap snapshot, without a profile and a duration
	profile  string
	duration time.Duration
	rule     string // that asks for it; empty for a person
	index    int    // of the rule
	gc       uint32 // that met the rule
}

// A captured is a capture that was made.
type captured struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// capture records a trace, and returns its file. If the process ends, the capture ends
// with it.
func (a *Agent) capture(ctx context.Context, r *captureRequest) (captured, error) {
	c := a.captures
	if c.config.Folder == "" {
		return captured{}, errNoCaptures
	}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	default:
		return captured{}, errBusy
	}
	if r.dump {
		if !c.dumping.TryLock() {
			return captured{}, errDumping
		}
		defer c.dumping.Unlock()
	}
	name := fmt.Sprintf("%s_%d_%s%s", fileName(r.process.Name), cmp.Or(r.process.PID, r.process.InnerPID), time.Now().UTC().Format("20060102T150405.000"), captureSuffix)
	done := captured{Path: filepath.Join(c.config.Folder, name)}
	f, err := outfile.Create(done.Path, 0o600, nil)
	if err != nil {
		return captured{}, err
	}
	if most := c.config.Quota / maxCaptures; r.dump {
		done.Bytes, err = recordDump(ctx, r.process.Process, f, most)
	} else {
		request := collect.Request{Profiles: []string{r.profile}, BufferMB: captureBuffer}
		config, _ := request.Config()
		done.Bytes, err = recordTrace(ctx, r.process.Process, &config, r.duration, f, most)
	}
	if done.Bytes == 0 {
		return captured{}, errors.Join(err, f.Close())
	}
	if failed := f.Commit(); failed != nil {
		return captured{}, errors.Join(err, failed)
	}
	c.makeRoom(name)
	return done, err
}

// recordTrace writes a trace of a process for some time, and at most so many bytes,
// and returns its size.
func recordTrace(ctx context.Context, p *diag.Process, config *diag.Config, d time.Duration, out io.Writer, most int64) (int64, error) {
	in, err := p.Client().Collect(ctx, *config)
	if err != nil {
		return 0, err
	}
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	end := in.EndWith(limited, endPatience)
	n, err := io.Copy(out, io.LimitReader(in, most))
	if n == most {
		in.Close() // nobody reads the rest
		err = cmp.Or(err, errTooLarge)
	}
	_ = end() // a runtime that does not end the trace is left
	collect.SettleSampling(p.Client(), config)
	return n, err
}

// recordDump writes a heap snapshot of a process, at most so many bytes, and returns its
// size.
func recordDump(ctx context.Context, p *diag.Process, out io.Writer, most int64) (int64, error) {
	bounded := &boundedWriter{out: out, room: most}
	d := &collect.Dump{Process: p, Output: "-", Repeat: 1, Stdout: bounded, Notify: func(collect.Notice) {}}
	_, err := d.Run(ctx)
	return most - bounded.room, err
}

// A boundedWriter fails with errTooLarge when there is no room for what it is given.
type boundedWriter struct {
	out  io.Writer
	room int64
}

func (w *boundedWriter) Write(b []byte) (int, error) {
	if int64(len(b)) > w.room {
		return 0, errTooLarge
	}
	n, err := w.out.Write(b)
	w.room -= int64(n)
	return n, err
}

// makeRoom removes the oldest captures until the rest is within the quota. It never
// removes the newest.
func (c *captures) makeRoom(newest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum int64
	for _, f := range c.list() {
		if sum += f.Size(); sum > c.config.Quota && f.Name() != newest {
			_ = os.Remove(filepath.Join(c.config.Folder, f.Name())) // tried again after the next capture
		}
	}
}

// list returns the captures, newest first.
func (c *captures) list() []fs.FileInfo { return newestFirst(c.config.Folder, captureSuffix) }

// newestFirst returns the files of a folder whose names have a suffix.
func newestFirst(folder, suffix string) []fs.FileInfo {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && filepath.Ext(e.Name()) == suffix {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(x, y fs.FileInfo) int {
		return cmp.Or(y.ModTime().Compare(x.ModTime()), cmp.Compare(x.Name(), y.Name()))
	})
	return all
}

// prepare makes the folder, and removes unfinished captures of earlier agents.
func (c *captures) prepare() error {
	if c.config.Folder == "" {
		return nil
	}
	if err := os.MkdirAll(c.config.Folder, 0o700); err != nil {
		return err
	}
	outfile.Sweep(c.config.Folder)
	return nil
}

// keep makes a capture and reports its path, or the reason why there is none.
func (a *Agent) keep(ctx context.Context, r *captureRequest) (captured, error) {
	done, err := a.capture(ctx, r)
	outcome := "kept"
	if err != nil {
		outcome = "failed"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.postponed(r, err) {
		return done, err
	}
	counted := selfCaptures
	if r.dump {
		counted = selfDumps
	}
	a.self.count(counted, 1, outcome)
	if done.Bytes > 0 && a.sends(otlp.Logs) {
		a.records.put(r.process, otlp.OfCapture(&otlp.Capture{Path: done.Path, Bytes: done.Bytes, Rule: r.rule, GC: r.gc}, time.Now()))
	}
	if a.opts.Captured != nil && !errors.Is(err, context.Canceled) {
		a.opts.Captured(&Captured{r.process.Process, r.dump, done.Path, err})
	}
	return done, err
}
