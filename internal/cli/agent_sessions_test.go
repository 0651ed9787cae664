//go:build linux

package cli

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// An agentProcess is an agent in a process of its own.
type agentProcess struct {
	*exec.Cmd
	scrapedAgent
}

// newAgentProcess returns an agent that has not been started.
func newAgentProcess(t *testing.T, args ...string) *agentProcess {
	t.Helper()
	a := &agentProcess{scrapedAgent: scrapedAgent{ended: make(chan struct{})}}
	a.Cmd = exec.CommandContext(t.Context(), os.Args[0], append([]string{"agent", "--listen", anyPort, "--ledger", ""}, args...)...)
	a.Env = append(os.Environ(), "GCTRAIL_TEST_MAIN=1")
	a.Stderr = &a.talk
	return a
}

// startAgent starts an agent and waits until it has searched the machine.
func startAgent(t *testing.T, args ...string) *agentProcess {
	t.Helper()
	a := newAgentProcess(t, args...)
	a.start(t)
	return a
}

func (a *agentProcess) start(t *testing.T) {
	t.Helper()
	if err := a.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("even root may not be somebody else here")
	} else if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(a.ended)
		_ = a.Wait() // an error if it was killed
	}()
	t.Cleanup(func() { _ = a.Process.Kill(); <-a.ended })
	a.ready(t)
}

// end ends the agent with a signal.
func (a *agentProcess) end(t *testing.T, how syscall.Signal) {
	t.Helper()
	if err := a.Process.Signal(how); err != nil {
		t.Fatal(err)
	}
	<-a.ended
}

// attached waits until the agent follows as many processes.
func (a *agentProcess) attached(t *testing.T, n int) {
	t.Helper()
	a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
		return s[`gctrail_agent_processes{state="attached"}`] == float64(n)
	})
}

// sessions returns how many sessions a program streams: the runtime has a thread for
// each, and one of the same name for its server, without which it is -1.
func sessions(t *testing.T, pid int) int {
	t.Helper()
	names, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/comm")
	if err != nil || len(names) == 0 {
		t.Fatalf("no threads of %d: %v", pid, err)
	}
	n := -1
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(text), ".NET EventPipe") {
			n++
		}
	}
	return n
}

// sessionsUntil waits until the number of sessions that a program streams is as wanted. A
// thread gets its name after it has begun.
func sessionsUntil(t *testing.T, pid int, when string, wanted func(n int) bool) {
	t.Helper()
	n := 0
	held := dotnettest.Poll(patient(t), func() bool {
		n = sessions(t, pid)
		return wanted(n)
	})
	if !held {
		t.Fatalf("%s, the program has %d sessions", when, n)
	}
}

// noneAtFirst waits until a program's server runs, because its threads cannot be
// distinguished from sessions' before.
func noneAtFirst(t *testing.T, pid int) {
	t.Helper()
	waitForSocket(t, pid)
	sessionsUntil(t, pid, "at first", func(n int) bool { return n == 0 })
}

// atMost waits until a program streams no more than n sessions.
func atMost(t *testing.T, n, pid int, when string) {
	t.Helper()
	sessionsUntil(t, pid, when, func(now int) bool { return now <= n })
}

// TestAgentLeavesNoSession ends an agent in all ways, and looks for its sessions in
// the programs.
func TestAgentLeavesNoSession(t *testing.T) {
	t.Parallel()
	for _, version := range dotnettest.Due(t) {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			file := dotnettest.Install(t, version)
			program := dotnettest.StartFile(t, file, "web", 600)
			noneAtFirst(t, program.PID)
			for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL, syscall.SIGKILL} {
				a := startAgent(t, "--name", program.Name)
				a.attached(t, 1)
				sessionsUntil(t, program.PID, "while an agent is attached", func(n int) bool { return n > 0 })
				a.end(t, how)
				atMost(t, 0, program.PID, "after "+how.String())
			}
		})
	}
}

// TestAgentKilledBesideIdle kills agents that follow a program without collections: the
// runtime notes that a session is closed when it writes to it, at the latest with
// the next session.
func TestAgentKilledBesideIdle(t *testing.T) {
	t.Parallel()
	program := dotnettest.Start(t, 10, "idle", 600)
	noneAtFirst(t, program.PID)
	for range 5 {
		a := startAgent(t, "--name", program.Name)
		a.attached(t, 1)
		a.end(t, syscall.SIGKILL)
	}
	atMost(t, 2, program.PID, "after five killed agents")
	a := startAgent(t, "--name", program.Name)
	a.attached(t, 1)
	a.end(t, syscall.SIGTERM)
	atMost(t, 2, program.PID, "after an agent that ended")
}

// TestAgentWithStoppedProgram stops a program for a while: the others are followed
// meanwhile, and nothing of it is lost.
func TestAgentWithStoppedProgram(t *testing.T) {
	t.Parallel()
	file := dotnettest.Install(t, 10)
	other := dotnettest.Install(t, 9)
	a := startAgent(t, "--name", filepath.Base(file), "--name", filepath.Base(other), "--labels", "process")
	stopped := dotnettest.StartFile(t, file, "web", 30, dotnettest.Often)
	going := dotnettest.StartFile(t, other, "web", 30, dotnettest.Often)
	collections := func(s map[string]float64, name string) (n float64) {
		for _, generation := range []string{"gen0", "gen1", "gen2"} {
			n += s[`dotnet_gc_collections_total{dotnet_gc_heap_generation="`+generation+`",process="`+name+`"}`]
		}
		return n
	}
	a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
		return collections(s, stopped.Name) > 10 && collections(s, going.Name) > 10
	})
	stopped.Stop()
	// What it sent before is read soon; then it has no more collections while the other one has.
	// If that never came, the other one would end, and with it the wait for its collections.
	for before := (map[string]float64{}); ; {
		after := a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
			return collections(s, going.Name) > collections(before, going.Name)+20
		})
		if collections(after, stopped.Name) == collections(before, stopped.Name) {
			break
		}
		before = after
	}
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*dotnettest.Program{stopped, going} {
		p.Ended()
		s := a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
			return s[`gctrail_process_attached{process="`+p.Name+`"}`] == 0 && collections(s, p.Name) > 0
		})
		compareAgent(t, s, p)
	}
}

// TestAgentWithoutRoot runs an agent as another user, beside a program of this user and
// one of root: it follows the first, and says why it cannot follow the second.
func TestAgentWithoutRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("it takes root to be somebody else")
	}
	const nobody = 65534
	as := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	path := shared(t)
	others := dotnettest.Start(t, 10, "idle", 600)
	waitForSocket(t, others.PID)

	own := filepath.Join(filepath.Dir(path), "own-"+others.Name)
	text, err := os.ReadFile(others.Path)
	if err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock() // no program that another test starts may inherit the open file: it could not be run
	err = os.WriteFile(own, text, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	a := newAgentProcess(t, "--name", others.Name, "--name", filepath.Base(own), "--labels", "process")
	a.Path, a.SysProcAttr = path, as
	a.start(t)
	program := exec.CommandContext(t.Context(), own, "web", "600")
	program.Dir, program.SysProcAttr = "/", as
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill(); _ = program.Wait(); dotnettest.RemoveSockets(program.Process.Pid) })
	a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
		return s[`gctrail_agent_processes{state="attached"}`] == 1 && s[`gctrail_agent_processes{state="unreachable"}`] == 1 &&
			s[`dotnet_gc_pause_time_seconds_total{process="`+filepath.Base(own)+`"}`] > 0
	})
	a.end(t, syscall.SIGTERM)
	if said := strings.Join(a.talk.all(), "\n"); !strings.Contains(said, strconv.Itoa(others.PID)) || !strings.Contains(said, "permission denied") {
		t.Errorf("it says %q", said)
	}
}

// TestAgentWithDeafProgram has a process accept connections at the socket of a runtime,
// read nothing and answer nothing. Others are followed as ever, and it is listed as
// unreachable.
func TestAgentWithDeafProgram(t *testing.T) {
	t.Parallel()
	file := dotnettest.Install(t, 10)
	sleeping := exec.CommandContext(t.Context(), "sleep", "600")
	if err := sleeping.Start(); err != nil {
		t.Skip("a process that waits: ", err)
	}
	t.Cleanup(func() { _ = sleeping.Process.Kill(); _ = sleeping.Wait() })
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(sleeping.Process.Pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	started := strings.Fields(rest)[19] // field 22, in ticks since the system started
	path := filepath.Join(os.TempDir(), "dotnet-diagnostic-"+strconv.Itoa(sleeping.Process.Pid)+"-"+started+"-socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	a := startAgent(t, "--name", filepath.Base(file), "--name", "sleep", "--labels", "process")
	program := dotnettest.StartFile(t, file, "web", 30)
	program.Ended()
	s := a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
		return s[`gctrail_process_attached{process="`+program.Name+`"}`] == 0 && s[`dotnet_gc_pause_time_seconds_total{process="`+program.Name+`"}`] > 0
	})
	compareAgent(t, s, program)
	a.samplesUntil(t, "/metrics", func(s map[string]float64) bool {
		return s[`gctrail_agent_processes{state="unreachable"}`] == 1
	})
}
