//go:build linux

package diag_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// start starts a program and waits until it reports its whole command line, because a
// process that has just begun reports only the program.
func start(ctx context.Context, t *testing.T, version int, mode string, seconds int, env ...string) *diag.Process {
	t.Helper()
	program := dotnettest.Start(t, version, mode, seconds, env...)
	var p *diag.Process
	dotnettest.Until(ctx, t, "the program reports its command line", func() bool {
		var err error
		p, err = diag.Find(ctx, program.PID)
		return err == nil && strings.Contains(p.Info.CommandLine, " "+mode+" ")
	})
	if p.Name != program.Name {
		t.Errorf("name %s, want %s", p.Name, program.Name)
	}
	return p
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), dotnettest.Patience)
	t.Cleanup(cancel)
	return ctx
}

var collections = diag.Config{
	BufferMB: 16, Rundown: diag.RundownGC, NoStacks: true,
	Providers: []diag.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 1, Level: 4}},
}

// TestRuntimes sends every query to real runtimes.
func TestRuntimes(t *testing.T) {
	newest := map[int]string{8: "CollectTracing2", 9: "CollectTracing4", 10: "CollectTracing5"}
	for _, version := range dotnettest.Due(t) {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			ctx := limited(t)
			before := time.Now()
			p := start(ctx, t, version, "idle", 600, "DOTNET_gcServer=1", "GREETING=hé")
			i := p.Info
			if int(i.PID) != p.PID || i.OS != "Linux" || i.Arch != "x64" || i.EntryAssembly != "gcload" || i.RID != "linux-x64" ||
				!strings.HasPrefix(i.RuntimeVersion, fmt.Sprint(version)+".0.") || i.Cookie == (diag.Cookie{}) {
				t.Errorf("info %+v", i)
			}
			// The kernel counts when it started in ticks of 10 ms since it was booted.
			if p.GC.Server != diag.On || p.Started.Before(before.Add(-10*time.Second)) || p.Started.After(time.Now().Add(10*time.Second)) {
				t.Errorf("%+v, started %v", p.GC, p.Started)
			}
			c := p.Client()
			if env, err := c.Environment(ctx); err != nil || !slices.Contains(env, "GREETING=hé") {
				t.Errorf("environment %q, %v", env, err)
			}
			if err := c.Resume(ctx); err != nil {
				t.Errorf("resume of what is not suspended: %v", err)
			}
			everything := collections
			everything.Block = true
			everything.Providers = slices.Clone(collections.Providers)
			everything.Providers[0].Events = []uint32{1, 2}
			session, err := c.Collect(ctx, everything)
			if err != nil {
				t.Fatal(err)
			}
			if session.Command != newest[version] {
				t.Errorf("%s, want %s", session.Command, newest[version])
			}
			wholeTrace(ctx, t, session)
		})
	}
}

// wholeTrace stops a session and checks that its bytes are a whole trace.
func wholeTrace(ctx context.Context, t *testing.T, session *diag.Session) {
	t.Helper()
	stopped := make(chan error)
	go func() { stopped <- session.Stop(ctx) }()
	b, err := io.ReadAll(session)
	if err := errors.Join(err, <-stopped, session.Close()); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(string(b), "Nettrace") || b[len(b)-1] != 1 {
		t.Errorf("%d bytes of no whole trace", len(b))
	}
}

// TestSuspended: a runtime that waits for its port takes variables and sessions
// before it continues.
func TestSuspended(t *testing.T) {
	ctx := limited(t)
	path := filepath.Join(t.TempDir(), "port")
	l, err := diag.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	variable, err := diag.PortVariable(path, true)
	if err != nil {
		t.Fatal(err)
	}
	dotnettest.Start(t, 8, "idle", 600, variable)
	r, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetEnvironment(ctx, "ADDED", "1"); err != nil {
		t.Error(err)
	}
	session, err := r.Collect(ctx, collections)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Resume(ctx); err != nil {
		t.Error(err)
	}
	wholeTrace(ctx, t, session)
	if info, err := r.Info(ctx); err != nil || info.Cookie != r.Cookie || info.PID != r.PID {
		t.Errorf("%+v, %v, want those of %+v", info, err, r)
	}
}

// TestManySessions: the 65th session is refused with its reason, and there is room again
// when the earlier ones have been closed. Other programs that watch all processes of the
// machine may hold some of the 64.
func TestManySessions(t *testing.T) {
	const most = 64
	ctx := limited(t)
	c := start(ctx, t, 8, "idle", 600).Client()
	var sessions []*diag.Session
	for range most {
		s, err := c.Collect(ctx, collections)
		if errors.Is(err, diag.Fail) && len(sessions) > 0 {
			break
		}
		if err != nil {
			t.Fatalf("session %d: %v", len(sessions)+1, err)
		}
		sessions = append(sessions, s)
	}
	if _, err := c.Collect(ctx, collections); !errors.Is(err, diag.Fail) || diag.Remedy(err) == "" {
		t.Errorf("after %d of %d sessions: %v; %s", len(sessions), most, err, diag.Remedy(err))
	}
	for _, s := range sessions {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Collect(ctx, collections)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// TestSilentClient: a client that connects and sends nothing blocks all others, which
// give up in time.
func TestSilentClient(t *testing.T) {
	ctx := limited(t)
	p := start(ctx, t, 10, "idle", 600)
	silent, err := net.Dial("unix", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Client()
	c.Timeout = 300 * time.Millisecond
	if _, err := c.Info(ctx); !errors.Is(err, diag.ErrNoAnswer) {
		t.Errorf("info: %v", err)
	}
	silent.Close()
	c.Timeout = 0
	if _, err := c.Info(ctx); err != nil {
		t.Errorf("info afterwards: %v", err)
	}
}

// TestSecondClient: another client may stop a session.
func TestSecondClient(t *testing.T) {
	ctx := limited(t)
	p := start(ctx, t, 9, "idle", 600)
	session, err := p.Client().Collect(ctx, collections)
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.Client().Collect(ctx, collections)
	if err != nil {
		t.Fatal(err)
	}
	other.ID, session.ID = session.ID, other.ID // each stops the other's
	go other.Stop(ctx)
	if b, err := io.ReadAll(session); err != nil || b[len(b)-1] != 1 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	other.Close()
}
