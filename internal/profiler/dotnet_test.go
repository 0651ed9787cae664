package profiler_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/hosttest"
	"github.com/gctrail/gctrail/internal/profiler"
)

// pushed returns the profile of a request to Pyroscope, and its service.
func pushed(r *http.Request) (of string, p *pprof.Profile, err error) {
	labels, profile, err := hosttest.Pushed(r)
	if err != nil {
		return "", nil, err
	}
	p, err = pprof.ParseData(profile)
	return labels["service_name"], p, err
}

// isNamed reports whether a sample is of a type and of a method of the program.
func isNamed(s *pprof.Sample) bool {
	return strings.HasPrefix(s.Location[0].Line[0].Function.Name, "Type ") && slices.ContainsFunc(s.Location, func(l *pprof.Location) bool {
		return strings.HasPrefix(l.Line[0].Function.Name, "GcLoad")
	})
}

// TestRuntimes profiles a program of each runtime that is due, until most bytes are of known types
// and methods. A receiver that is away at first gets the profiles later.
func TestRuntimes(t *testing.T) {
	for _, version := range dotnettest.Due(t) {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			program := dotnettest.Start(t, version, "web", 300)
			profiles, enough := make(chan *pprof.Profile), make(chan struct{})
			refused := false
			pass := passing(t, profiles, enough)
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !refused {
					refused = true
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				pass(w, r)
			}))
			defer receiver.Close()
			p, ctx, end := started(t, receiver.URL, time.Second)
			p.Attach(ctx, 1, &profiler.Subject{Process: processOf(t, program.PID), Service: "web"})
			awaitNames(t, profiles)
			close(enough)
			end()
			if s := p.Stats(); s.Failures == 0 || s.Sent == 0 || s.Sampling != 0 || s.Lists == 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// started starts a profiler that sends to a URL, and returns the context of its sessions, and a
// function that ends them and waits for the rest of the profiles.
func started(t *testing.T, url string, interval time.Duration) (p *profiler.Profiler, ctx context.Context, end func()) {
	t.Helper()
	p, err := profiler.New(profiler.Options{URL: url, Interval: interval})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(ctx) }()
	return p, ctx, func() { cancel(); <-ended }
}

// processOf waits for a process with its information.
func processOf(t *testing.T, pid int) *diag.Process {
	t.Helper()
	var p *diag.Process
	dotnettest.Until(t.Context(), t, "the program has a socket", func() bool {
		var err error
		p, err = diag.Find(t.Context(), pid)
		return err == nil && p.Info != nil
	})
	return p
}

func awaitNames(t *testing.T, profiles <-chan *pprof.Profile) {
	t.Helper()
	deadline := time.After(dotnettest.Patience)
	var all, named int64
	for all == 0 || named < all/2 {
		select {
		case p := <-profiles:
			for _, s := range p.Sample {
				all += s.Value[1]
				if isNamed(s) {
					named += s.Value[1]
				}
			}
		case <-deadline:
			t.Fatalf("%d of %d bytes have names", named, all)
		}
	}
	t.Logf("%d of %d bytes have names", named, all)
}

// passing returns a handler that passes on the profiles it receives, until there are enough.
func passing(t *testing.T, profiles chan<- *pprof.Profile, enough <-chan struct{}) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		_, p, err := pushed(r)
		if err != nil {
			t.Error(err)
			return
		}
		select {
		case profiles <- p:
		case <-enough:
		}
	}
}

// TestUnloadedCode: most bytes of a profile have the name of a method whose code is gone, and was
// there for too short a time for lists of methods.
func TestUnloadedCode(t *testing.T) {
	for mode, method := range map[string]string{"contexts": "Plugin.Work(", "emitted": "Generated.Work(", "dynamic": "Work("} {
		t.Run(mode, func(t *testing.T) {
			program := dotnettest.StartUnloading(t, mode)
			profiles, enough := make(chan *pprof.Profile), make(chan struct{})
			receiver := httptest.NewServer(passing(t, profiles, enough))
			defer receiver.Close()
			p, ctx, end := started(t, receiver.URL, time.Second)
			p.Attach(ctx, 1, &profiler.Subject{Process: processOf(t, program.PID), Service: mode})
			awaitMethod(t, profiles, method)
			close(enough)
			end()
		})
	}
}

// awaitMethod waits for a profile in which a method allocates three quarters of the bytes.
func awaitMethod(t *testing.T, profiles <-chan *pprof.Profile, method string) {
	t.Helper()
	const enough = 100e6 // bytes, several times the allocations before the first unloading
	deadline := time.After(dotnettest.Patience)
	for {
		var all, named int64
		select {
		case p := <-profiles:
			for _, s := range p.Sample {
				all += s.Value[1]
				if len(s.Location) > 1 && strings.Contains(s.Location[1].Line[0].Function.Name, method) {
					named += s.Value[1]
				}
			}
		case <-deadline:
			t.Fatalf("no profile has %s on top", method)
		}
		t.Logf("%d of %d bytes", named, all)
		if all >= enough && named > all*3/4 {
			return
		}
	}
}
