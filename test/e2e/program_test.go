package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// A program is one that a test starts, kills and starts again.
type program struct {
	name    string
	command []string
	folder  string
	env     []string
	ready   func() bool

	running *exec.Cmd
}

// start starts the program and waits until it is ready.
func (p *program) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(p.folder, p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.running = exec.Command(p.command[0], p.command[1:]...)
	p.running.Dir, p.running.Stdout, p.running.Stderr = p.folder, log, log
	p.running.Env = append(os.Environ(), p.env...)
	if err := p.running.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !dotnettest.Poll(ctx, p.ready) {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("%s is not ready after a minute:\n%s", p.name, text)
	}
}

// kill ends the program as kill -9 does.
func (p *program) kill() {
	if p.running != nil {
		_ = p.running.Process.Signal(syscall.SIGKILL)
		_ = p.running.Wait()
		p.running = nil
	}
}

// run starts the program for the time of the test.
func (p *program) run(t *testing.T) *program {
	t.Helper()
	p.folder = t.TempDir()
	t.Cleanup(p.kill)
	p.start(t)
	return p
}

// answers reports whether an address answers over HTTP, and not that it is starting.
func answers(address string) func() bool {
	return func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return false
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode < http.StatusInternalServerError
	}
}

func port(t *testing.T) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// installed returns the path of a program, or skips the test.
func installed(t *testing.T, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// gctrail is the binary of this repository.
var gctrail = sync.OnceValues(func() (string, error) {
	return built("gctrail", filepath.Join("..", ".."), "./cmd/gctrail", "")
})

func binary(t *testing.T) string {
	t.Helper()
	path, err := gctrail()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// collector is an OpenTelemetry Collector, which takes a while to build the first
// time.
var collector = sync.OnceValues(func() (string, error) {
	return built("collector", "collector", ".", "collector-0.160.0-"+runtime.Version())
})

// prometheus3 is a Prometheus that takes OTLP, which Debian's does not yet. It takes two
// minutes to build the first time.
var prometheus3 = sync.OnceValues(func() (string, error) {
	return built("prometheus", "prometheus", "github.com/prometheus/prometheus/cmd/prometheus", "prometheus-0.315.0-"+runtime.Version(), "-tags=remove_all_sd")
})

// built builds a program, with more flags: into the cache if it has a name there.
func built(name, module, target, cached string, flags ...string) (string, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("gctrail-e2e-%d", os.Getpid()))
	if cached != "" {
		folder = os.Getenv("GCTRAIL_E2E_CACHE")
		if folder == "" {
			user, err := os.UserCacheDir()
			if err != nil {
				return "", err
			}
			folder = filepath.Join(user, "gctrail-e2e")
		}
		name = cached
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	args := append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, target)...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// gctrailRun runs gctrail to its end, and returns its standard output.
func gctrailRun(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t), args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gctrail %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(filepath.Join(os.TempDir(), fmt.Sprintf("gctrail-e2e-%d", os.Getpid())))
	os.Exit(code)
}
