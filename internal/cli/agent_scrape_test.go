//go:build linux

package cli

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// anyPort has an agent serve at a free port of the loopback, which it prints.
const anyPort = "127.0.0.1:0"

// A scrapedAgent is an agent that a test scrapes.
type scrapedAgent struct {
	address string
	talk    loggedLines
	ended   chan struct{}
}

// runAgent runs an agent in this process until the end of the test or until stop is called, and
// waits until it has searched the machine.
func runAgent(t *testing.T, args ...string) (a *scrapedAgent, stop func()) {
	t.Helper()
	a = &scrapedAgent{ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	std := &stdio{out: io.Discard, err: text.NewPrinter(&a.talk)}
	cmd := newRootCmd(std)
	cmd.SetArgs(append([]string{"agent"}, args...))
	go func() {
		defer close(a.ended)
		if code := std.complain(cmd.ExecuteContext(ctx)); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}()
	stop = func() { cancel(); <-a.ended }
	t.Cleanup(stop)
	a.ready(t)
	return a, stop
}

// ready waits until the agent says where it serves, and has searched the machine.
func (a *scrapedAgent) ready(t *testing.T) {
	t.Helper()
	a.until(t, "the agent serves", func() bool {
		_, after, _ := strings.Cut(strings.Join(a.talk.all(), "\n"), "serving metrics at http://")
		address, _, said := strings.Cut(after, "/metrics\n")
		if !said {
			address, said = strings.CutSuffix(after, "/metrics")
		}
		a.address = address
		return said
	})
	a.samplesUntil(t, "/readyz", func(map[string]float64) bool { return true })
}

// until waits, no longer than the agent runs.
func (a *scrapedAgent) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	held := dotnettest.Poll(patient(t), func() bool {
		if holds() {
			return true
		}
		select {
		case <-a.ended:
			t.Fatalf("%s: never, because it ended: %q", what, a.talk.all())
		default:
		}
		return false
	})
	if !held {
		t.Fatalf("%s: never: %q", what, a.talk.all())
	}
}

// samplesUntil scrapes the agent until the samples are as wanted, and returns them.
func (a *scrapedAgent) samplesUntil(t *testing.T, path string, wanted func(map[string]float64) bool) (samples map[string]float64) {
	t.Helper()
	a.until(t, "the agent serves what is wanted", func() bool {
		var ok bool
		samples, ok = a.scrape(path)
		return ok && wanted(samples)
	})
	return samples
}

// scrape returns the samples at a path, if it answers.
func (a *scrapedAgent) scrape(path string) (samples map[string]float64, ok bool) {
	resp, err := http.Get("http://" + a.address + path)
	if err != nil {
		return nil, false
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, false
	}
	samples = make(map[string]float64)
	for line := range strings.Lines(string(body)) {
		if i := strings.LastIndexByte(line, ' '); i > 0 && line[0] != '#' {
			samples[line[:i]], _ = strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
		}
	}
	return samples, true
}
