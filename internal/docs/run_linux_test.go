package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// runAll runs each command in the world, but for those of elsewhere.
func runAll(t *testing.T) {
	commands, err := Commands(filepath.Join(mounted, "repo"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	where := w.elsewhere(t)
	ran, apart, first := 0, 0, map[string]bool{}
	t.Run("commands", func(t *testing.T) {
		for _, c := range commands {
			if where(&c) {
				apart++
				continue
			}
			ran++
			if first[c.Line] {
				continue
			}
			first[c.Line] = true
			t.Run(c.At, func(t *testing.T) {
				t.Parallel()
				if fault := w.run(t, &c); fault != "" {
					w.failed(&c)
				}
			})
		}
	})
	for _, c := range w.again { // a machine that was too busy makes no difference now, a fault does
		t.Run(c.At, func(t *testing.T) {
			if fault := w.run(t, c); fault != "" {
				t.Error(fault)
			}
		})
	}
	fmt.Printf("%d commands printed: %d run here (%d different ones, of which %d skipped), %d listed with the reason\n", len(commands), ran, len(first), w.skipped.Load(), apart)
	if len(commands) < 250 {
		t.Errorf("only %d commands were found", len(commands))
	}
}

// run runs a command as its rule says. It returns why it failed.
func (w *world) run(t *testing.T, c *Command) (fault string) {
	t.Helper()
	r := ruleOf(c)
	defer func() {
		if t.Skipped() {
			w.skipped.Add(1)
		}
	}()
	if tool := missingTool(c.Line + " && " + r.needs); tool != "" {
		fmt.Printf("not run, because %s is not installed: %s\n", tool, c.Line)
		t.SkipNow()
	}
	if r.alone != "" {
		defer w.lock(r.alone)()
	}
	if r.network {
		ownNetwork(t)
	}
	if r.begin != nil {
		if err := r.begin(t, w); err != nil {
			return err.Error()
		}
	}
	line := r.line(c)
	p := &process{t: t, rule: r, folder: folderFor(t, r, line), ended: make(chan struct{})}
	p.receiver = listen(t, r.receives)
	p.start(line)
	if r.ready != "" {
		p.whileReady()
	}
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); !slices.Contains(append(r.codes, 0), code) {
		p.fail("exit code %d", code)
	}
	p.check(r.after, "after it")
	if p.faults == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s\n%s", line, strings.Join(p.faults, "; "), p.said)
}

// A process is a command that runs.
type process struct {
	t        *testing.T
	rule     *rule
	folder   string
	receiver *receiver
	cmd      *exec.Cmd
	screen   *os.File // of a command on a terminal
	said     *output
	found    string // by the pattern of the rule
	ended    chan struct{}
	faults   []string
}

func (p *process) fail(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// start starts a shell with the command. A command that neither ends nor gets ready is killed.
func (p *process) start(line string) {
	p.t.Helper()
	p.said = newOutput()
	p.cmd = p.shell(p.rule.setup + "\n" + line)
	if p.rule.stdin != "" {
		p.cmd.Stdin = strings.NewReader(p.rule.stdin)
	}
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	p.cmd.SysProcAttr, p.cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, time.Second // for what runs in the background
	if p.rule.terminal {
		p.onTerminal()
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its exit code says how it ended
		p.said.end()
		close(p.ended)
	}()
	group := -p.cmd.Process.Pid
	ctx, cancel := context.WithTimeout(p.t.Context(), dotnettest.Patience)
	p.t.Cleanup(func() {
		cancel()
		_ = syscall.Kill(group, syscall.SIGKILL) // also ends background jobs
	})
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = syscall.Kill(group, syscall.SIGKILL)
		}
	})
}

// shell returns a shell that runs a script in the folder of the command.
func (p *process) shell(script string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", "set -o pipefail\n"+script)
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), "PATH="+mounted+"/bin:"+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm", "STATE_DIRECTORY="+p.folder+"/state", "FOUND="+p.found, "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
	cmd.Env = append(cmd.Env, p.rule.env...)
	return cmd
}

// whileReady waits until the command is ready, does what its rule says of that time, and interrupts it.
func (p *process) whileReady() {
	p.t.Helper()
	if p.found = p.said.await(regexp.MustCompile(p.rule.ready)); p.found == "" {
		if !p.rule.mayEnd {
			p.fail("it ended, or was killed after %v, without %q", dotnettest.Patience, p.rule.ready)
		}
		return
	}
	if err := p.receiver.await(p.ended); err != nil {
		p.fail("%v", err)
	}
	p.check(p.rule.then, "while it runs")
	if p.screen != nil {
		_, _ = p.screen.WriteString("q")
	} else {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT)
	}
}

// check runs a script of the rule, which must succeed.
func (p *process) check(script, when string) {
	p.t.Helper()
	if script == "" {
		return
	}
	if out, err := p.shell(script).CombinedOutput(); err != nil {
		p.fail("%s, %s: %v: %s", when, script, err, out)
	}
}

// piped matches the programs that a command passes its output to.
var piped = regexp.MustCompile(`(?:\| |&& |^)([a-z][\w.-]*)`)

// missingTool returns a program of a line that is not installed.
func missingTool(line string) string {
	for _, m := range piped.FindAllStringSubmatch(line, -1) {
		if _, err := os.Stat(filepath.Join(mounted, "bin", m[1])); err == nil {
			continue
		}
		if _, err := exec.LookPath(m[1]); err != nil {
			return m[1]
		}
	}
	return ""
}

// A world has what several commands need.
type world struct {
	mu    sync.Mutex
	locks map[string]*sync.Mutex

	again []*Command // those that failed beside others

	clickHouse bool // it answers
	skipped    atomic.Int32
}

func (w *world) failed(c *Command) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again = append(w.again, c)
}

// lock waits for commands that cannot run beside each other, and returns the end of that.
func (w *world) lock(name string) (unlock func()) {
	w.mu.Lock()
	l := w.locks[name]
	if l == nil {
		l = new(sync.Mutex)
		w.locks[name] = l
	}
	w.mu.Unlock()
	l.Lock()
	return l.Unlock
}

// folderFor makes the folder of a command, with the files that it names.
func folderFor(t *testing.T, r *rule, line string) string {
	t.Helper()
	folder, err := os.MkdirTemp(filepath.Join(mounted, "scratch"), "command-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if r.clone {
		if err := overlay(filepath.Join(mounted, "repo"), folder); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
		return folder
	}
	for name, target := range map[string]string{"testdata": "repo/testdata", "app": "bin/app", "start.sh": "bin/app", "gcload-net8": "dotnet/gcload-net8"} {
		if err := os.Symlink(filepath.Join(mounted, target), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := place(folder, filepath.Join(mounted, "repo", "testdata"), r.setup+line); err != nil {
		t.Fatal(err)
	}
	return folder
}

// ruleOf returns the rule for a command.
func ruleOf(c *Command) *rule {
	for i := range rules {
		if rules[i].pattern().MatchString(c.Line) {
			return &rules[i]
		}
	}
	return &rule{}
}

func (r *rule) pattern() *regexp.Regexp { return regexp.MustCompile("^(?:" + r.match + ")") }

// line returns the command with what stands in for its placeholders.
func (r *rule) line(c *Command) string {
	return strings.NewReplacer(r.placeholders...).Replace(c.Line)
}
