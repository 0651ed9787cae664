package cli

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/watch"
)

// loggedLines are output that a test reads while it is written.
type loggedLines struct {
	mu     sync.Mutex
	lines  bytes.Buffer
	closed bool
}

func (l *loggedLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, syscall.EPIPE
	}
	return l.lines.Write(p)
}

func (l *loggedLines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimRight(l.lines.String(), "\n"), "\n")
}

// TestTopPlain follows a program that starts later, until it is killed: each of
// its collections is a line.
func TestTopPlain(t *testing.T) {
	program := dotnettest.Start(t, 10, "web", 600)
	var out, talk loggedLines
	std := &stdio{out: &out, err: text.NewPrinter(&talk)}
	o := newTopOptions()
	if err := (*globList)(&o.Names).Set(program.Name); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), dotnettest.Patience)
	defer cancel()
	done := make(chan error)
	go func() { done <- o.run(ctx, std) }()
	for len(out.all()) < 10 && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(strings.Join(talk.all(), "\n"), "without closing") && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	lines := out.all()
	if head := strings.Fields(lines[0]); len(head) != len(logColumns(fullTime)) || head[0] != "time" {
		t.Errorf("%q", lines[0])
	}
	for _, line := range lines[1:] {
		f := strings.Fields(line)
		if len(f) != len(logColumns(fullTime)) || f[1] != program.Name || f[2] != strconv.Itoa(program.PID) {
			t.Fatalf("%q", line)
		}
		if _, err := time.Parse(time.RFC3339, f[0]); err != nil {
			t.Error(err)
		}
	}
	if said := strings.Join(talk.all(), "\n"); !strings.Contains(said, ": now watching\n") {
		t.Errorf("%q", said)
	}
}

// TestTopPlainEnds: with a process's id it ends with the process; and it ends
// when nobody reads it any more.
func TestTopPlainEnds(t *testing.T) {
	program := dotnettest.Start(t, 9, "web", 600)
	o := newTopOptions()
	o.PIDs = []int{program.PID}
	ctx, cancel := context.WithTimeout(t.Context(), dotnettest.Patience)
	defer cancel()
	for ctx.Err() == nil && o.check(ctx) != nil {
		time.Sleep(20 * time.Millisecond)
	}
	var out, talk loggedLines
	go func() {
		for len(out.all()) < 5 && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		program.Terminate()
	}()
	if err := o.run(ctx, &stdio{out: &out, err: text.NewPrinter(&talk)}); err != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	said := strings.Join(talk.all(), "\n")
	if !strings.Contains(said, ": ended\n"+program.Name) || len(out.all()) < 5 {
		t.Errorf("%q", said)
	}
	if err := o.run(ctx, &stdio{out: &out, err: text.NewPrinter(&talk)}); exitCodeOf(err) != exitNoProcess {
		t.Errorf("a process that has ended: %v", err)
	}
	out.closed = true
	err := newTopOptions().run(ctx, &stdio{out: &out, err: text.NewPrinter(&talk)})
	if !errors.Is(err, syscall.EPIPE) || exitCodeOf(err) != exitDone {
		t.Errorf("nobody reads: %v", err)
	}
}

// TestNextAfterTop: the command names the process that paused most, and parses.
func TestNextAfterTop(t *testing.T) {
	process := func(name, verdict string, paused float64) *watch.Process {
		return &watch.Process{Process: &diag.Process{Name: name}, Result: findings.Result{Verdict: verdict}, PausedInAll: gc.Some(paused)}
	}
	s := &watch.Snapshot{Processes: []*watch.Process{process("web", "bad", 3), process("my api", "worse", 12), process("none", "", 99)}}
	want := "gctrail collect -n " + text.Quoted("my api") + " --duration 60s"
	if got := nextOf(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	accepted(t, want)
	if got := nextOf(&watch.Snapshot{}); got != "" {
		t.Errorf("%q where nothing was watched", got)
	}
}
