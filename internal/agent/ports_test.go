package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	measured "runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/internal/watch"
)

// A portAgent is an agent that follows diagnostic ports only, and what it reported.
type portAgent struct {
	*Agent
	mu      sync.Mutex
	news    []watch.News
	arrived chan struct{} // has an item when there was news since await looked
}

func runPorts(t *testing.T, ports ...string) *portAgent {
	t.Helper()
	c := DefaultConfig()
	c.Ledger.Folder, c.Listen, c.OTLP.Endpoint = "", "", "http://127.0.0.1:1"
	c.Ports = ports
	p := new(portAgent)
	p.run(t, c, watch.Source{List: func(context.Context) []*diag.Process { return nil }})
	return p
}

// run runs the agent until the test's end.
func (p *portAgent) run(t *testing.T, c *Config, source watch.Source) {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	p.arrived = make(chan struct{}, 1)
	a, err := New(Options{Config: c, Source: source, Notify: func(n *watch.News) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.news = append(p.news, *n)
		select {
		case p.arrived <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.Agent = a
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = a.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// await waits for news, and returns its process.
func (p *portAgent) await(t *testing.T, what string, is func(*watch.News) bool) *diag.Process {
	t.Helper()
	for patience := time.After(dotnettest.Patience); ; {
		p.mu.Lock()
		news := p.news
		p.mu.Unlock()
		for i := range news {
			if is(&news[i]) {
				return news[i].Process
			}
		}
		select {
		case <-p.arrived:
		case <-patience:
			t.Fatalf("no news that %s: %+v", what, news)
		}
	}
}

// counted waits until a process with some labels has collections.
func (p *portAgent) counted(t *testing.T, labels ...string) {
	t.Helper()
	dotnettest.Until(t.Context(), t, fmt.Sprintf("collections of %q", labels), func() bool {
		for series, value := range scrape(t, p.Agent) {
			lacks := func(label string) bool { return !strings.Contains(series, label) }
			if strings.HasPrefix(series, "dotnet_gc_collections_total") && value != "0" && !slices.ContainsFunc(labels, lacks) {
				return true
			}
		}
		return false
	})
}

// TestPorts follows a runtime behind a relay, whose connections break, and which another
// process takes the place of.
func TestPorts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("replaces a socket by a link")
	}
	socket := filepath.Join(t.TempDir(), "socket")
	address, cut := dotnettest.NewRelay(t, "tcp", "127.0.0.1:0", "unix", socket)
	behind := func(seconds int) *dotnettest.Program {
		program := dotnettest.Start(t, 10, "web", seconds)
		var found *diag.Process
		dotnettest.Until(t.Context(), t, "the program has a socket", func() bool {
			var err error
			found, err = diag.Find(t.Context(), program.PID)
			return err == nil
		})
		_ = os.Remove(socket)
		if err := os.Symlink(found.Address, socket); err != nil {
			t.Fatal(err)
		}
		return program
	}
	first := behind(600)
	a := runPorts(t, address+",connect")
	attached := a.await(t, "it is followed", func(n *watch.News) bool { return n.Attached })
	if attached.PID != 0 || attached.InnerPID != first.PID || attached.Name != first.Name {
		t.Errorf("%+v, want process %d inside", attached, first.PID)
	}
	port := `diagnostic_port="` + address + `"`
	a.counted(t, port, labelled("pid", first.PID))
	cut()
	a.await(t, "the connection broke off", func(n *watch.News) bool { return n.Ended && errors.Is(n.Err, errDisconnected) })
	a.await(t, "it is followed again", func(n *watch.News) bool { return n.Attached && n.ID > 1 })
	first.Terminate()
	a.await(t, "it ended", func(n *watch.News) bool { return n.Ended && n.ID > 1 })
	second := behind(600)
	a.counted(t, port, labelled("pid", second.PID))
	for series, value := range scrape(t, a.Agent) {
		if strings.HasPrefix(series, "gctrail_process_ended_total") && strings.Contains(series, `"killed"`) && value != "0" {
			t.Errorf("%s is %s: nothing is known of its end", series, value)
		}
	}
}

func labelled(name string, value int) string { return name + `="` + strconv.Itoa(value) + `"` }

// TestBadPorts: peers that send garbage, or without an end, in place of events, and one that
// sends nothing, are reported, take bounded memory, and delay no other process.
func TestBadPorts(t *testing.T) {
	extent.Long(t, "receives hundreds of megabytes")
	trace := tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
	head, events := dotnettest.Head(trace), trace[len(dotnettest.Head(trace)):len(trace)-1]
	flooded := make(chan struct{})
	hold := func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }
	peers := map[string]func(net.Conn){
		"good": func(c net.Conn) { _, _ = c.Write(trace[:len(trace)-1]); hold(c) },
		"mute": hold,
		"noise": func(c net.Conn) {
			_, _ = c.Write(head)
			_, _ = c.Write(dotnettest.Nonsense(len(head), 5, 100<<10))
		},
		"flood": func(c net.Conn) {
			_, err := c.Write(head)
			const enough = 256 << 20
			for sent := 0; err == nil; sent += len(events) {
				if _, err = c.Write(events); sent < enough && sent+len(events) >= enough {
					close(flooded)
				}
			}
		},
	}
	var ports []string
	for name, serve := range peers {
		ports = append(ports, dotnettest.Serve(t, "tcp", "127.0.0.1:0", dotnettest.Answering("/app/"+name, serve))+",connect")
	}
	heap := watchHeap(t)
	a := runPorts(t, ports...)
	a.counted(t, `process="good"`)
	a.await(t, "noise is no trace", func(n *watch.News) bool { return n.Process.Name == "noise" && n.Ended && n.Err != nil })
	a.await(t, "the mute is followed", func(n *watch.News) bool { return n.Process.Name == "mute" && n.Attached })
	<-flooded
	const most = 128 << 20
	if got := heap(); got > most {
		t.Errorf("the heap had %d bytes", got)
	}
}

// watchHeap returns a function that returns the largest size of the heap so far.
func watchHeap(t *testing.T) func() uint64 {
	runtime.GC()
	var mu sync.Mutex
	var most uint64
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		sample := []measured.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			measured.Read(sample)
			mu.Lock()
			most = max(most, sample[0].Value.Uint64())
			mu.Unlock()
		}
	}()
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return most
	}
}
