package agent

import (
	"context"
	"io"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/watch"
)

// A silent runtime accepts sessions, and has no events.
type silent struct {
	stopped <-chan struct{}
	stop    func()
}

func (s silent) Run(io.Writer) error { <-s.stopped; return nil }
func (s silent) Stop()               { s.stop() }

// samplesAllocations reports whether a session has its runtime raise events of allocations.
func samplesAllocations(c diag.Config) bool {
	const verbose, of = 5, clr.KeywordAllocationSampling | clr.KeywordGCSampledObjectAllocationHigh | clr.KeywordGCSampledObjectAllocationLow
	for _, p := range c.Providers {
		if p.Keywords&of != 0 || p.Keywords&clr.KeywordGC != 0 && p.Level >= verbose {
			return true
		}
	}
	return false
}

// TestSampledOnRequest: runtimes are asked for events of allocations only if profiles are
// configured, whatever their version.
func TestSampledOnRequest(t *testing.T) {
	for _, version := range []string{"8.0.1", "10.0.1", ""} {
		for _, profiles := range []bool{false, true} {
			if got := followed(t, version, profiles); got != profiles {
				t.Errorf("runtime %q, profiles configured: %v; allocations sampled: %v", version, profiles, got)
			}
		}
	}
}

// followed has an agent follow a runtime, and reports whether any of its sessions samples
// allocations.
func followed(t *testing.T, version string, profiles bool) bool {
	t.Helper()
	sampling, samples := context.WithCancel(t.Context())
	server, err := diag.Serve(diag.ServerOptions{Folder: t.TempDir(), Collect: func(c diag.Config) (diag.Tracing, error) {
		if samplesAllocations(c) {
			samples()
		}
		ctx, stop := context.WithCancel(t.Context())
		return silent{ctx.Done(), stop}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := DefaultConfig()
	c.Ledger.Folder, c.Listen = "", "127.0.0.1:0"
	if profiles {
		c.Profiles.URL = "http://127.0.0.1:1"
	}
	p := program(7, "web")
	p.Address, p.Info.RuntimeVersion = server.Address(), version
	ctx, cancel := context.WithCancel(t.Context())
	attached := make(chan struct{})
	a, err := New(Options{
		Config: c, Source: watch.Source{List: func(context.Context) []*diag.Process { return []*diag.Process{p} }},
		Notify: func(n *watch.News) {
			if n.Attached {
				close(attached)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = a.Run(ctx) }()
	<-attached
	if profiles {
		<-sampling.Done()
	}
	cancel()
	<-done
	return sampling.Err() != nil
}
