//go:build linux

package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
)

// A collecting is gctrail collect in a process of its own.
type collecting struct {
	*exec.Cmd
	t    *testing.T
	path string // of the trace
	talk bytes.Buffer
}

// newCollecting prepares gctrail collect with more arguments.
func newCollecting(ctx context.Context, t *testing.T, args ...string) *collecting {
	t.Helper()
	dir, err := os.MkdirTemp(t.ArtifactDir(), "collect")
	if err != nil {
		t.Fatal(err)
	}
	c := &collecting{t: t, path: filepath.Join(dir, "web.nettrace")}
	c.Cmd = exec.CommandContext(ctx, executable(t), append([]string{"collect", "-o", c.path}, args...)...)
	c.Stderr = &c.talk
	return c
}

// executable returns this test under the name gctrail, by which TestMain makes
// it that.
func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gctrail")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (c *collecting) start() *collecting {
	c.t.Helper()
	if err := c.Start(); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// ends waits for the end, and checks the exit code and what was said.
func (c *collecting) ends(code int, says ...string) {
	c.t.Helper()
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		c.t.Errorf("exit code %d, want %d", got, code)
	}
	for _, want := range says {
		if !strings.Contains(c.talk.String(), want) {
			c.t.Errorf("%q is not said", want)
		}
	}
	if c.t.Failed() {
		c.t.Log(c.talk.String())
	}
}

// whole checks that the file is a whole trace, with the collections that the program saw.
func (c *collecting) whole(ctx context.Context, program *dotnettest.Program) {
	c.t.Helper()
	dotnettest.MustEndFile(c.t, c.path)
	rows, seen := gcsRows(ctx, c.t, c.path), seenIn(ctx, c.path, program)
	for _, truth := range seen {
		compareRow(c.t, rowOf(rows, truth.Number), &truth)
	}
	if len(seen) == 0 {
		c.t.Errorf("none of %d collections was compared", len(rows))
	}
}

// TestSurviveStopped: a process that is stopped, and one that another client holds
// up, which has connected and says nothing, are said to be such, and while they are
// collected from, do not keep gctrail from ending.
func TestSurviveStopped(t *testing.T) {
	t.Parallel()
	ctx := patient(t)
	stopped, stoppedProgram := collectingFrom(ctx, t, 10)
	heldUp, heldUpProgram := collectingFrom(ctx, t, 9)
	p, err := diag.Find(ctx, heldUpProgram.PID)
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Dial("unix", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	stoppedProgram.Stop()
	stopped.Process.Signal(os.Interrupt)
	heldUp.Process.Signal(os.Interrupt)

	pid := strconv.Itoa(stoppedProgram.PID)
	newCollecting(ctx, t, "-p", pid).start().ends(exitNoProcess, "process "+pid+": the process is stopped; resume it")
	stopped.ends(exitDone, "did not end the trace (timed out waiting for an answer)", "Total pause")
	stopped.whole(ctx, stoppedProgram)
	heldUp.ends(exitDone, "did not end the trace (timed out waiting for an answer)", "Total pause")
	heldUp.whole(ctx, heldUpProgram)
}

// collectingFrom starts a program, and collecting from it, which has come some way.
func collectingFrom(ctx context.Context, t *testing.T, version int) (*collecting, *dotnettest.Program) {
	t.Helper()
	program := dotnettest.Start(t, version, "web", 600)
	reached(ctx, t, program)
	c := newCollecting(ctx, t, "-p", strconv.Itoa(program.PID)).start()
	collected(ctx, t, c.path, program, 1)
	return c, program
}

// TestSurviveSessions: the 65th session is refused, with the reason. Some of the other sessions
// may belong to another user's tool that watches all programs of the machine.
func TestSurviveSessions(t *testing.T) {
	t.Parallel()
	const most = 64
	for _, version := range dotnettest.Due(t) {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			ctx := patient(t)
			program := dotnettest.Start(t, version, "idle", 600)
			reached(ctx, t, program)
			p, err := diag.Find(ctx, program.PID)
			if err != nil {
				t.Fatal(err)
			}
			config, _ := newCollectOptions().request().Config()
			config.BufferMB = 1
			for range most {
				session, err := p.Client().Collect(ctx, config)
				if errors.Is(err, diag.Fail) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { session.Close() }) // one that nobody holds is closed earlier
			}
			newCollecting(ctx, t, "-p", strconv.Itoa(program.PID)).start().
				ends(exitNoProcess, "unspecified failure (0x80004005); a runtime allows at most 64 sessions: end another one")
		})
	}
}

// TestSurviveFull: when the disk is full, everything written until then is kept.
func TestSurviveFull(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// limit leaves the file room for a size.
		limit func(c *collecting, t *testing.T, size int64)
		says  string
	}{
		"disk":  {(*collecting).limitDisk, "no space left on device; make room, or choose another disk with -o"},
		"limit": {(*collecting).limitFile, "file too large; choose another file with -o"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := patient(t)
			program := dotnettest.Start(t, 10, "web", 600)
			reached(ctx, t, program)
			c := newCollecting(ctx, t, "-p", strconv.Itoa(program.PID), "--profile", "gc-verbose")
			if name == "disk" {
				c.onDisk(t)
			}
			c.start()
			collected(ctx, t, c.path, program, 1)
			c.Process.Signal(syscall.SIGSTOP) // so that the file does not grow meanwhile
			info, err := os.Stat(c.path)
			if err != nil {
				t.Fatal(err)
			}
			room := (info.Size()>>12 + 1<<7) << 12 // a disk has pages
			test.limit(c, t, room)
			c.Process.Signal(syscall.SIGCONT)
			c.ends(exitUnreadable, c.path+": "+test.says, "everything written until then", "Total pause")
			const block = 110_000 // the largest that a runtime writes, with what is around it
			if info, err := os.Stat(c.path); err != nil || info.Size() > room || info.Size() < room-block {
				t.Errorf("%d bytes of %d: %v", info.Size(), room, err)
			}
			c.whole(ctx, program)
		})
	}
}

// onDisk has the trace written to a disk of its own.
func (c *collecting) onDisk(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1g"); err != nil {
		t.Skip("no disk can be mounted: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	c.path = filepath.Join(dir, "web.nettrace")
	c.Args = append(c.Args, "-o", c.path)
}

// limitDisk gives the disk of the trace a size.
func (c *collecting) limitDisk(t *testing.T, size int64) {
	t.Helper()
	if err := unix.Mount("tmpfs", filepath.Dir(c.path), "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size)); err != nil {
		t.Fatal(err)
	}
}

// limitFile lets the process write files of a size.
func (c *collecting) limitFile(t *testing.T, size int64) {
	t.Helper()
	limit := unix.Rlimit{Cur: uint64(size), Max: uint64(size)}
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}

// TestSurviveForbidden: an error says that a process is another user's.
func TestSurviveForbidden(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("it takes root to be somebody else")
	}
	const nobody = 65534
	ctx := patient(t)
	program := dotnettest.Start(t, 10, "idle", 600)
	reached(ctx, t, program)
	c := newCollecting(ctx, t, "-p", strconv.Itoa(program.PID))
	c.Path = shared(t)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if err := c.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("even root may not be somebody else here")
	} else if err != nil {
		t.Fatal(err)
	}
	c.ends(exitNoProcess, fmt.Sprintf("process %d: permission denied; run gctrail as the user of that process, or as root", program.PID))
}

// shared returns a copy of this test as gctrail, in a folder that all users may
// enter.
func shared(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	dir, err := os.MkdirTemp("/tmp", "gctrail-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "gctrail")
	// A file that is open for writing cannot be run, nor while a child has it open too.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close(), os.Chmod(path, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

const unknown = uint32(diag.UnknownCommand)

// TestSurviveImpostors collects from this very process, where something listens
// that is not quite a runtime.
func TestSurviveImpostors(t *testing.T) {
	trace := webBytes(t)
	knows := func(info bool, refusal uint32) func(uint16, net.Conn) {
		return func(command uint16, c net.Conn) {
			if info && command == dotnettest.ProcessInfo {
				dotnettest.Answer(c, dotnettest.OK, dotnettest.Info("/app/web"))
			} else {
				dotnettest.Answer(c, dotnettest.Error, binary.LittleEndian.AppendUint32(nil, refusal))
			}
		}
	}
	var busy sync.Once
	for name, test := range map[string]struct {
		serve func(command uint16, c net.Conn)
		code  int
		says  string
	}{
		"garbage": {
			func(_ uint16, c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
			exitNoProcess, "the answer is not that of a .NET runtime",
		},
		"hangs up": {
			func(uint16, net.Conn) {},
			exitNoProcess, "the connection closed before an answer arrived; it has just exited, or is still starting: try again",
		},
		"knows nothing": {knows(false, unknown), exitUnsupported, "unknown command (0x80131385); the runtime is too old for it"},
		"too old":       {knows(true, unknown), exitUnsupported, "unknown command (0x80131385); the runtime is too old for it"},
		"busy at first": {
			func(command uint16, c net.Conn) {
				busy.Do(func() { time.Sleep(1500 * time.Millisecond) }) // a slow peer
				knows(true, unknown)(command, c)
			},
			exitUnsupported, "unknown command (0x80131385); the runtime is too old for it",
		},
		"not supported":        {knows(true, uint32(diag.NotSupported)), exitUnsupported, "this kind of runtime does not support it"},
		"hangs up mid-garbage": {begins([]byte("Nettrace\x14\x00\x00\x00!Fast")), exitNoProcess, "header"},
		"garbage for a trace":  {begins([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")), exitNoProcess, "not a trace"},
		"damage":               {begins(append(bytes.Clone(trace[:50_000]), make([]byte, 5000)...)), exitDone, "Pauses took"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collectingFromImpostor(patient(t), t, test.serve)
			c.ends(test.code, test.says)
			if _, err := os.Stat(c.path); (err == nil) != (test.code == exitDone) {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// TestSurviveSilence: gctrail gives up a process that does not answer, or sends a byte a
// second.
func TestSurviveSilence(t *testing.T) {
	extent.Long(t, "waits more than ten seconds for answers")
	t.Parallel()
	ctx := patient(t)
	silent := collectingFromImpostor(ctx, t, func(_ uint16, c net.Conn) { io.Copy(io.Discard, c) })
	slow := collectingFromImpostor(ctx, t, func(_ uint16, c net.Conn) { trickle(c, []byte("DOTNET_IPC_V1\x00")) })
	silent.ends(exitNoProcess, "timed out waiting for an answer; it is stopped or busy, or another tool holds its socket")
	slow.ends(exitNoProcess, "timed out waiting for an answer; it is stopped or busy, or another tool holds its socket")
}

// TestSurviveTrickle: of a trace that comes at a byte a second, what came is kept; a
// second interrupt ends the wait.
func TestSurviveTrickle(t *testing.T) {
	t.Parallel()
	trace := webBytes(t)
	const head = 50_000
	ctx := patient(t)
	asked := make(chan struct{})
	c := collectingFromImpostor(ctx, t, func(command uint16, conn net.Conn) {
		if command == dotnettest.StopTracing {
			close(asked)
			io.Copy(io.Discard, conn)
			return
		}
		begins(trace[:head])(command, conn)
		trickle(conn, trace[head:])
	})
	grown(ctx, t, c.path, head/2)
	c.Process.Signal(os.Interrupt)
	<-asked
	impatient := time.NewTicker(50 * time.Millisecond)
	defer impatient.Stop()
	go func() {
		for range impatient.C {
			if c.Process.Signal(os.Interrupt) != nil {
				return
			}
		}
	}()
	c.ends(-1)
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("ended by %v", c.ProcessState)
	}
	b, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	if want := dotnettest.Whole(trace[:head]) + 1; len(dotnettest.MustEnd(t, b)) == 0 || len(b) != want {
		t.Errorf("%d bytes, want %d", len(b), want)
	}
}

// TestSurviveOther: an error says that a process has no .NET.
func TestSurviveOther(t *testing.T) {
	newCollecting(t.Context(), t, "-p", strconv.Itoa(os.Getpid())).start().
		ends(exitNoProcess, "not a .NET process; list the .NET processes with: gctrail ps")
}

// collectingFromImpostor starts collecting from this process, at whose socket serve
// answers.
func collectingFromImpostor(ctx context.Context, t *testing.T, serve func(command uint16, c net.Conn)) *collecting {
	t.Helper()
	c := newCollecting(ctx, t, "-p", strconv.Itoa(os.Getpid()))
	c.Env = append(os.Environ(), impostor(t, serve))
	return c.start()
}

// impostor has serve answer the commands that are sent to the socket which this
// process would have were it a .NET process, and returns the variable by which
// gctrail finds it.
func impostor(t *testing.T, serve func(command uint16, c net.Conn)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "im-")
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	started := strings.Fields(string(rest))[19]
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dotnettest.Serve(t, "unix", fmt.Sprintf("%s/dotnet-diagnostic-%d-%s-socket", dir, os.Getpid(), started), func(c net.Conn) {
		b := make([]byte, 1<<16)
		if n, err := c.Read(b); err == nil && n >= 20 {
			serve(uint16(b[16])<<8|uint16(b[17]), c)
		}
	})
	return "TMPDIR=" + dir
}

// begins answers as a runtime does whose trace begins with some bytes.
func begins(trace []byte) func(uint16, net.Conn) {
	return func(command uint16, c net.Conn) {
		switch command {
		case dotnettest.ProcessInfo:
			dotnettest.Answer(c, dotnettest.OK, dotnettest.Info("/app/web"))
		case collectTracing2:
			dotnettest.Answer(c, dotnettest.OK, make([]byte, 8))
			c.Write(trace)
		default:
			dotnettest.Answer(c, dotnettest.Error, binary.LittleEndian.AppendUint32(nil, unknown))
		}
	}
}

const collectTracing2 = 0x0203

// trickle sends a byte a second until nobody takes it.
func trickle(c net.Conn, b []byte) {
	_, _ = io.Copy(dotnettest.SlowWriter{W: c, Pause: time.Second}, iotest.OneByteReader(bytes.NewReader(b)))
}
