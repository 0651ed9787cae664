//go:build linux

package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// A load is programs that run all the time, and others that start and end.
type load struct {
	running, starts int
	seconds         int // that the starts are spread over
}

// TestLoad measures the cost of watching many programs, and prints it: the share of a
// processor, the most memory, and how many of the programs that run for one second are
// attached to; collect only takes programs that run when it starts. GCTRAIL_LOAD sets how
// many run, how many start, and in how many seconds: 60,200,60. GCTRAIL_BINARY measures
// another build of gctrail.
func TestLoad(t *testing.T) {
	l := askedLoad(t)
	file := dotnettest.Install(t, 10)
	dir := t.TempDir()
	name := filepath.Base(file)
	for _, c := range []struct {
		name string
		args []string
		// attached reports whether output is about a process.
		attached func(said string, pid int) bool
	}{
		{"top", []string{"top", "--plain", "-n", name}, func(said string, pid int) bool {
			return strings.Contains(said, fmt.Sprintf("%s %d: now watching\n", name, pid))
		}},
		{"collect", []string{"collect", "-n", name, "-o", filepath.Join(dir, "{pid}.nettrace")}, func(_ string, pid int) bool {
			_, err := os.Stat(filepath.Join(dir, strconv.Itoa(pid)+".nettrace"))
			return err == nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for range l.running {
				waitForSocket(t, startLoad(ctx, t, file, 4*l.seconds+60))
			}
			var said bytes.Buffer
			ours := exec.CommandContext(ctx, measured(t), c.args...)
			ours.Stderr = &said
			if err := ours.Start(); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			var pids []int
			for n := range l.starts {
				// The starts are spread over the time.
				time.Sleep(time.Until(began.Add(time.Duration(n*l.seconds) * time.Second / time.Duration(l.starts))))
				pids = append(pids, startLoad(ctx, t, file, 1))
			}
			time.Sleep(2 * time.Second) // while the last one runs
			took := time.Since(began)
			resident := peak(t, ours.Process.Pid)
			if err := ours.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			// A program that has just ended is reported as missing.
			if err := ours.Wait(); err != nil && ours.ProcessState.ExitCode() != exitNoProcess {
				t.Fatalf("%v: %s", err, said.String())
			}
			attached := 0
			for _, pid := range pids {
				if c.attached(said.String(), pid) {
					attached++
				}
			}
			cpu := ours.ProcessState.UserTime() + ours.ProcessState.SystemTime()
			t.Logf("%d programs: %.1f %% of a processor, %.1f MB at most; %d of %d that ran for one second were attached to",
				l.running, 100*cpu.Seconds()/took.Seconds(), float64(resident)/1e6, attached, l.starts)
		})
	}
}

// measured returns the gctrail whose load is measured: GCTRAIL_BINARY, or this one, which takes
// more memory because it holds the tests too.
func measured(t *testing.T) string {
	t.Helper()
	return cmp.Or(os.Getenv("GCTRAIL_BINARY"), executable(t))
}

// peak returns the most memory that a process has had resident. That of
// getrusage counts what the test had when it made the process.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// askedLoad returns the load that GCTRAIL_LOAD asks for.
func askedLoad(t *testing.T) load {
	t.Helper()
	asked := os.Getenv("GCTRAIL_LOAD")
	if asked == "" {
		t.Skip("GCTRAIL_LOAD says how many programs to run, how many to start, and in how many seconds: 60,200,60")
	}
	var numbers []int
	for field := range strings.SplitSeq(asked, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			t.Fatalf("GCTRAIL_LOAD=%s: %q is no number above 0", asked, field)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != 3 {
		t.Fatalf("GCTRAIL_LOAD=%s: want three numbers", asked)
	}
	return load{numbers[0], numbers[1], numbers[2]}
}

// waitForSocket waits until a program can be attached to.
func waitForSocket(t *testing.T, pid int) {
	t.Helper()
	dotnettest.Until(t.Context(), t, fmt.Sprintf("process %d has a socket", pid), func() bool {
		found, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("dotnet-diagnostic-%d-*", pid)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found { // one that a killed process of the same number left does not answer
			if c, err := net.Dial("unix", path); err == nil {
				c.Close()
				return true
			}
		}
		return false
	})
}

// startLoad starts a program, which is killed with the context, and returns its id.
func startLoad(ctx context.Context, t *testing.T, file string, seconds int) int {
	t.Helper()
	p := exec.CommandContext(ctx, file, "idle", strconv.Itoa(seconds))
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Wait()
		dotnettest.RemoveSockets(p.Process.Pid)
	}()
	t.Cleanup(func() { <-ended })
	return p.Process.Pid
}
