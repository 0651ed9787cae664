package agent

import (
	"errors"
	"io"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

// TestEnding ends programs by a signal, and asks before and after their parent has noticed.
func TestEnding(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Skip("a program that waits: ", err)
		}
		early, late := watchEnding(cmd.Process.Pid), watchEnding(cmd.Process.Pid)
		if _, now := early.zombie(); now != running {
			t.Error("it runs, and has ended")
		}
		if _, now := early.reaped(); now != running && early.fd >= 0 {
			t.Error("it runs, and its end was noticed")
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		for now := running; now != ended; { // until it is a zombie
			_, now = early.zombie()
		}
		if got := early.signal(); got != int(signal) {
			t.Errorf("before it is noticed: signal %d, want %d", got, signal)
		}
		_ = cmd.Wait()
		if got := late.signal(); got != int(signal) && got != 0 { // unknown before Linux 6.15
			t.Errorf("afterwards: signal %d, want %d", got, signal)
		}
	}
}

// TestEndingOfGone queries a process that is gone: the answer is unknown, and immediate.
func TestEndingOfGone(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip("a program that ends: ", err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if got := watchEnding(cmd.Process.Pid).signal(); got != 0 || !time.Now().Equal(began) {
			t.Errorf("signal %d after %v", got, time.Since(began))
		}
	})
}

// TestBrokenSession: a process whose events break off while it runs has not ended; the reason is
// reported. One that was killed has.
func TestBrokenSession(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	a := newAgent(t, nil)
	var news []error
	a.opts.Notify = func(n *watch.News) { news = append(news, n.Err) }
	ends := func() float64 {
		s := scrape(t, a)
		n, _ := strconv.ParseFloat(s[`gctrail_process_ended_total{cause="killed",memory="unknown",process="sleep",runtime=".NET 10.0.1"}`], 64)
		return n
	}
	p := program(1, "sleep")
	p.PID = cmd.Process.Pid
	for id, why := range map[int]error{1: live.ErrTruncated, 2: io.ErrNoProgress} {
		attach(a, id, p)
		news = nil
		a.news(&watch.News{ID: id, Process: p, Ended: true, Err: why})
		if want := (map[int]error{1: errBrokeOff, 2: why})[id]; len(news) != 1 || !errors.Is(news[0], want) || ends() != 0 {
			t.Errorf("%v: news %v, %v ends", why, news, ends())
		}
	}
	attach(a, 3, p)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for now, e := running, watchEnding(p.PID); now != ended; { // until it is a zombie
		_, now = e.zombie()
	}
	a.news(&watch.News{ID: 3, Process: p, Ended: true, Err: live.ErrTruncated})
	if ends() != 1 {
		t.Errorf("%v ends of a process that was killed", ends())
	}
}
