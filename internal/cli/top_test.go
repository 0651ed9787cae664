package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
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
type loggedLines struct{ dotnettest.Output }

func (l *loggedLines) all() []string { return strings.Split(strings.TrimRight(l.String(), "\n"), "\n") }

// reaches waits until there are n lines, or ctx ends.
func (l *loggedLines) reaches(ctx context.Context, n int) {
	l.Await(ctx, func(text string) bool { return strings.Count(text, "\n") >= n })
}

// says waits until a line contains some words, or ctx ends.
func (l *loggedLines) says(ctx context.Context, words string) bool {
	return l.Await(ctx, func(text string) bool { return strings.Contains(text, words) })
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
	out.reaches(ctx, 10)
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	talk.says(ctx, "without closing")
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
	dotnettest.Until(ctx, t, "the program can be reached", func() bool { return o.check(ctx) == nil })
	var out, talk loggedLines
	go func() {
		out.reaches(ctx, 5)
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
	err := newTopOptions().run(ctx, &stdio{out: closedPipe{}, err: text.NewPrinter(&talk)})
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
