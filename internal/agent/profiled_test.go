package agent

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/hosttest"
	"github.com/gctrail/gctrail/internal/watch"
)

// A profiled is a profile that the agent sent: the label pid, and the bytes.
type profiled struct {
	pid   string
	bytes int64
}

func readProfile(r *http.Request) (profiled, error) {
	labels, profile, err := hosttest.Pushed(r)
	if err != nil {
		return profiled{}, err
	}
	p := profiled{pid: labels["pid"]}
	of, err := pprof.ParseData(profile)
	if err != nil {
		return p, err
	}
	for _, s := range of.Sample {
		p.bytes += s.Value[1]
	}
	return p, nil
}

// A profilingAgent follows certain programs only, and sends a profile of each when it ends.
type profilingAgent struct {
	*portAgent
	sent chan profiled

	mu   sync.Mutex
	pids []int
}

func (a *profilingAgent) follow(program *dotnettest.Program) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pids = append(a.pids, program.PID)
}

func (a *profilingAgent) list(ctx context.Context) []*diag.Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(diag.List(ctx), func(p *diag.Process) bool { return !slices.Contains(a.pids, p.PID) })
}

// next waits for a profile.
func (a *profilingAgent) next(t *testing.T) profiled {
	t.Helper()
	select {
	case p := <-a.sent:
		return p
	case <-time.After(dotnettest.Patience):
		t.Fatal("no profile")
		return profiled{}
	}
}

// sampled waits until a process has been sampled for some collections.
func (a *profilingAgent) sampled(t *testing.T, pid string) {
	t.Helper()
	const enough = 5
	from, sampling := 0, false
	ctx, cancel := context.WithTimeout(t.Context(), dotnettest.Patience)
	defer cancel()
	sampled := dotnettest.Poll(ctx, func() bool {
		all, collections := scrape(t, a.Agent), 0
		for series, value := range all {
			if strings.HasPrefix(series, "dotnet_gc_collections_total") && strings.Contains(series, pid) {
				n, _ := strconv.Atoi(value)
				collections += n
			}
		}
		switch {
		case !sampling && all["gctrail_profiles_processes"] == "1":
			from, sampling = collections, true
		case sampling:
			return collections >= from+enough
		}
		return false
	})
	if !sampled {
		t.Fatalf("process %s is not sampled: %+v", pid, a.profiler.Stats())
	}
}

func runProfiling(t *testing.T, ports ...string) *profilingAgent {
	t.Helper()
	a := &profilingAgent{portAgent: new(portAgent), sent: make(chan profiled, 10)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p, err := readProfile(r)
		if err != nil {
			t.Error(err)
		}
		a.sent <- p
	}))
	t.Cleanup(receiver.Close)
	c := DefaultConfig()
	c.Ledger.Folder, c.Listen, c.Ports = "", "", ports
	c.Profiles.URL, c.Profiles.Interval = receiver.URL, time.Hour
	a.run(t, c, watch.Source{List: a.list})
	return a
}

// TestProfiledUntilTheEnd: the profile of a program that is killed, or exits, before its interval is
// over is sent, once; the next program of the name has a profile of its own.
func TestProfiledUntilTheEnd(t *testing.T) {
	const rate = 50 // MB/s
	a := runProfiling(t)
	for _, end := range []func(*dotnettest.Program){
		func(p *dotnettest.Program) { _ = p.Process.Kill() },
		(*dotnettest.Program).Terminate,
	} {
		program := dotnettest.StartShares(t, 10, "files", rate)
		began := time.Now()
		a.follow(program)
		pid := labelled("pid", program.PID)
		a.sampled(t, pid)
		end(program)
		got, most := a.next(t), int64(time.Since(began).Seconds()*rate*1e6)
		if !strings.Contains(pid, `"`+got.pid+`"`) || got.bytes == 0 || got.bytes > most+most/2 {
			t.Errorf("a profile of process %s with %d bytes; process %d allocated at most %d", got.pid, got.bytes, program.PID, most)
		}
	}
	select {
	case p := <-a.sent:
		t.Errorf("one more profile, of process %s", p.pid)
	default:
	}
}
