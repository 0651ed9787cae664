package emit_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/nettrace"
)

// serve serves a provider, and returns a client.
func serve(t *testing.T, p *emit.Provider, env ...string) (*emit.Server, *diag.Client) {
	t.Helper()
	return serveWith(t, p, emit.ServeOptions{Environment: append([]string{"HOME=/"}, env...)})
}

func serveWith(t *testing.T, p *emit.Provider, opt emit.ServeOptions) (*emit.Server, *diag.Client) {
	t.Helper()
	opt.Folder = shortFolder(t)
	s, err := emit.Serve(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, diag.NewClient(s.Address())
}

// shortFolder returns a folder whose path has room for a socket's name.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "e")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// gcCollect is the request of dotnet-trace's profile gc-collect.
var gcCollect = diag.Config{BufferMB: 16, Rundown: diag.RundownGC, NoStacks: true, Providers: []diag.Provider{
	{Name: clr.RuntimeProvider, Keywords: 1, Level: 4}, {Name: clr.PrivateProvider, Keywords: 1, Level: 4},
}}

func collect(t *testing.T, c *diag.Client, config diag.Config) *diag.Session {
	t.Helper()
	s, err := c.Collect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stop stops a session and returns the kinds of events that it read.
func stop(t *testing.T, s *diag.Session) (kinds []clr.Kind, lost uint64) {
	t.Helper()
	stopped := make(chan error)
	go func() { stopped <- s.Stop(t.Context()) }()
	b, err := io.ReadAll(s)
	if err := errors.Join(err, <-stopped, s.Close()); err != nil {
		t.Fatal(err)
	}
	if b[len(b)-1] != 1 {
		t.Error("the trace has no end")
	}
	r := nettrace.NewReader(bytes.NewReader(b), nettrace.Options{})
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, clr.KindOf(ev.Desc.Provider, ev.Desc.ID))
	}
	return kinds, r.Loss().Events
}

// TestServe: clients read the description of the process, and each gets the events that
// it requested.
func TestServe(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{Process: emit.Process{
		CommandLine: `"/my game/server" -x`, OS: "Linux", Arch: "x64", Runtime: [3]uint16{9, 0, 4}, Settings: &clr.GCSettingsRundown{},
		Flags: clr.StartupFlagsServerGC | clr.StartupFlagsConcurrentGC,
	}})
	_, c := serve(t, p, "GREETING=hé", "COMPlus_GCCONCURRENT=0")
	info, err := c.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if int(info.PID) != os.Getpid() || info.Cookie == (diag.Cookie{}) || info.Name() != "server" || info.RuntimeVersion != "9.0.4" {
		t.Errorf("%+v", info)
	}
	env, err := c.Environment(t.Context())
	if want := []string{"HOME=/", "GREETING=hé", "COMPlus_GCCONCURRENT=0", "DOTNET_gcServer=1"}; err != nil || !slices.Equal(env, want) {
		t.Errorf("%q, %v", env, err)
	}

	raised := []clr.Event{&clr.GCStart{}, &clr.GCEnd{}, &clr.GCAllocationTick{}, &clr.BGCBegin{}}
	end := []clr.Kind{clr.KindProcessInfo, clr.KindRuntimeInformationDCStart, clr.KindGCSettingsRundown}
	with := func(change func(*diag.Config)) diag.Config {
		config := gcCollect
		config.Providers = slices.Clone(gcCollect.Providers)
		change(&config)
		return config
	}
	for name, test := range map[string]struct {
		config diag.Config
		want   []clr.Kind
	}{
		"gc-collect": {gcCollect, append([]clr.Kind{clr.KindGCStart, clr.KindGCEnd, clr.KindBGCBegin}, end...)},
		"verbose, no rundown": {
			with(func(c *diag.Config) { c.Rundown, c.Providers[0].Level = 0, 5 }),
			[]clr.Kind{clr.KindGCStart, clr.KindGCEnd, clr.KindGCAllocationTick, clr.KindBGCBegin, clr.KindProcessInfo},
		},
		"the oldest command": {
			diag.Config{BufferMB: 1, Rundown: diag.RundownFull, Providers: []diag.Provider{{Name: clr.PrivateProvider, Keywords: 1, Level: 5}}},
			append([]clr.Kind{clr.KindBGCBegin}, end...),
		},
		"some events": {
			with(func(c *diag.Config) { c.Providers[0].Events, c.Providers[1].Events = []uint32{2}, []uint32{} }),
			append([]clr.Kind{clr.KindGCEnd}, end...),
		},
		"all but some": {
			with(func(c *diag.Config) { c.Providers[0].Except, c.Block = []uint32{2}, true }),
			append([]clr.Kind{clr.KindGCStart, clr.KindBGCBegin}, end...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := collect(t, c, test.config)
			thread := p.NewThread()
			for _, e := range raised {
				thread.Raise(e)
			}
			thread.Close()
			if got, lost := stop(t, s); !slices.Equal(got, test.want) || lost != 0 {
				t.Errorf("got %v, %d lost, want %v", got, lost, test.want)
			}
		})
	}
}

// TestServeManySessions: the 65th session is refused; a client that goes frees its place.
func TestServeManySessions(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	server, c := serve(t, p)
	var sessions []*diag.Session
	var dead []net.Conn
	for range emit.MaxSessions / 2 {
		sessions = append(sessions, collect(t, c, gcCollect))
		dead = append(dead, mortal(t, server, 1, 0))
	}
	if _, err := c.Collect(t.Context(), gcCollect); !errors.Is(err, diag.Fail) {
		t.Errorf("session %d: %v", emit.MaxSessions+1, err)
	}
	p.Raise(&clr.GCStart{})
	for i, s := range sessions {
		dead[i].Close()
		if kinds, _ := stop(t, s); !slices.Contains(kinds, clr.KindGCStart) {
			t.Errorf("session %d: %v", i, kinds)
		}
	}
	dotnettest.Until(t.Context(), t, "the sessions of clients that went are gone", func() bool { return !p.Enabled(clr.KindGCStart) })
	stop(t, collect(t, c, gcCollect))
}

// mortal starts a session like a client that is killed later: nothing is stopped before
// its connection closes.
func mortal(t *testing.T, s *emit.Server, bufferMB, mode uint32) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", s.Address())
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { c.Close() })
	le := binary.LittleEndian
	text := func(b []byte, s string) []byte {
		b = le.AppendUint32(b, uint32(len(s)+1))
		return append(clr.AppendUTF16(b, s), 0, 0)
	}
	b := append([]byte("DOTNET_IPC_V1\x00"), 0, 0, 2, 7, 0, 0) // CollectTracing6
	for _, v := range []uint32{0, bufferMB, 1, 0, 0} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint32(append(b, 0), 1)
	b = le.AppendUint32(le.AppendUint64(b, 1), 5)
	b = append(text(b, clr.RuntimeProvider), make([]byte, 4+1+4)...)
	b = le.AppendUint32(b, mode)
	le.PutUint16(b[14:], uint16(len(b)))
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 28)
	if _, err := io.ReadFull(c, answer); err != nil || answer[17] != 0 {
		t.Fatalf("%x, %v", answer, err)
	}
	return c
}

// TestServeSlowClient: a client that does not read does not slow the program down,
// because its events are dropped and counted.
func TestServeSlowClient(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	_, c := serve(t, p)
	config := gcCollect
	config.BufferMB = 1
	config.Providers = []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 1, Level: 5}}
	s := collect(t, c, config)
	tick := &clr.GCAllocationTick{TypeName: clr.NewUTF16("System.String")}
	const events = 50_000 // some 6 MB
	for range events {
		p.Raise(tick)
	}
	kinds, lost := stop(t, s)
	n := uint64(0)
	for _, k := range kinds {
		if k == clr.KindGCAllocationTick {
			n++
		}
	}
	if lost == 0 || n+lost != events {
		t.Errorf("%d events read, %d lost, of %d", n, lost, events)
	}
}

// oneInAChunk returns an event that fills most of a chunk, so that a buffer holds as many
// of them as it has chunks, whatever shards they go to and whenever the writer takes them.
func oneInAChunk() *clr.GCAllocationTick {
	return &clr.GCAllocationTick{TypeName: clr.NewUTF16(strings.Repeat("s", 20_000))}
}

// TestServeBuffers: the program bounds the memory for clients, whatever they request, and
// frees it when they have gone.
func TestServeBuffers(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	_, c := serveWith(t, p, emit.ServeOptions{BufferBytes: 4 << 20})
	config := gcCollect
	config.BufferMB = 1 << 20
	config.Providers = []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 1, Level: 5}}
	tick := oneInAChunk()
	for range 3 {
		s := collect(t, c, config)
		const events, room = 200, 2<<20/(64<<10) - 1
		for range events {
			p.Raise(tick)
		}
		kinds, lost := stop(t, s)
		held := 0
		for _, k := range kinds {
			if k == clr.KindGCAllocationTick {
				held++
			}
		}
		// The socket holds some more.
		if held < room || held > 3*room || uint64(held)+lost != events {
			t.Errorf("%d events held, %d lost, of %d; a half of 4 MiB has room for %d", held, lost, events, room)
		}
	}
}

// TestServeBlockingClient: a client that requests it loses nothing, and the program waits
// for it.
func TestServeBlockingClient(t *testing.T) {
	t.Parallel()
	p := newProvider(t, emit.ProviderOptions{})
	server, c := serve(t, p)
	config := diag.Config{BufferMB: 1, Block: true, Providers: []diag.Provider{{Name: clr.RuntimeProvider, Keywords: 1, Level: 5}}}
	s := collect(t, c, config)
	tick := oneInAChunk()
	const events, room = 500, 17 + 1 // a chunk for each shard at least
	raise := func() (filled, raised chan struct{}) {
		filled, raised = make(chan struct{}), make(chan struct{})
		go func() {
			for n := range events {
				if n == room {
					close(filled)
				}
				p.Raise(tick)
			}
			close(raised)
		}()
		return filled, raised
	}
	filled, raised := raise()
	<-filled
	select {
	case <-raised:
		t.Error("the program did not wait")
	case <-time.After(50 * time.Millisecond): // it is at the end of the room soon
	}
	go func() {
		<-raised
		s.Stop(context.WithoutCancel(t.Context()))
	}()
	b, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	r := nettrace.NewReader(bytes.NewReader(b), nettrace.Options{})
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) == clr.KindGCAllocationTick {
			n++
		}
	}
	if n != events || r.Loss().Events != 0 {
		t.Errorf("%d events of %d, %d lost", n, events, r.Loss().Events)
	}
	// A client that does not read does not outlive the server.
	mortal(t, server, 1, 1)
	filled, released := raise()
	<-filled
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	<-released
}

// TestServeGarbage: connections that send nothing valid, or half a request, leave the
// others alone.
func TestServeGarbage(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	server, c := serve(t, p)
	s := collect(t, c, gcCollect)
	for _, text := range []string{"", "\x00", "GET / HTTP/1.1\r\n\r\n", "DOTNET_IPC_V1\x00\xff\xff\x02\x05\x00\x00 and no more"} {
		in, err := net.Dial("unix", server.Address())
		if err != nil {
			t.Skip(err)
		}
		in.Write([]byte(text))
		defer in.Close()
	}
	p.Raise(&clr.GCStart{})
	if kinds, lost := stop(t, s); !slices.Contains(kinds, clr.KindGCStart) || lost != 0 {
		t.Errorf("%v, %d lost", kinds, lost)
	}
}

// TestServeSuspended: a process waits for its clients until it is resumed, as long as the
// caller lets it.
func TestServeSuspended(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	opt := emit.ServeOptions{Environment: []string{"DOTNET_DefaultDiagnosticPortSuspend=1"}, SuspendLimit: 50 * time.Millisecond, Folder: shortFolder(t)}
	begun := time.Now()
	s, err := emit.Serve(t.Context(), p, opt)
	if err != nil || time.Since(begun) < opt.SuspendLimit {
		t.Fatalf("%v after %v", err, time.Since(begun))
	}
	s.Close()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := emit.Serve(canceled, p, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}

	path := filepath.Join(opt.Folder, "port")
	l, err := diag.Listen(path)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	opt = emit.ServeOptions{Environment: []string{"DOTNET_DiagnosticPorts=" + path}, Folder: opt.Folder}
	sessions := make(chan *diag.Session, 1)
	go func() {
		defer close(sessions)
		r, err := l.Accept(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		session, err := r.Collect(t.Context(), gcCollect)
		if err == nil {
			sessions <- session
			err = r.Resume(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
	}()
	s, err = emit.Serve(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p.Raise(&clr.GCStart{})
	session := <-sessions
	<-sessions // closed when the client has its answer
	if kinds, _ := stop(t, session); !slices.Contains(kinds, clr.KindGCStart) {
		t.Errorf("the session that was asked for before resuming has %v", kinds)
	}
}

// The environment can ask for a file, and for no clients.
func TestServeEnvironment(t *testing.T) {
	for name, test := range map[string]struct {
		env     []string
		want    []clr.Kind
		clients bool
	}{
		"a config": {
			[]string{"DOTNET_EventPipeConfig=microsoft-windows-dotnetruntime:0x1:4", "DOTNET_EventPipeCircularMB=2"},
			[]clr.Kind{clr.KindGCStart, clr.KindProcessInfo, clr.KindRuntimeInformationDCStart},
			true,
		},
		"the default, at the end": {
			[]string{"COMPlus_EventPipeOutputStreaming=0", "DOTNET_EnableDiagnostics=0"},
			[]clr.Kind{clr.KindGCStart, clr.KindGCAllocationTick, clr.KindProcessInfo, clr.KindRuntimeInformationDCStart},
			false,
		},
		"no clients": {
			[]string{"DOTNET_EventPipeConfig=Other", "DOTNET_EnableDiagnostics_IPC=0", "DOTNET_EventPipeBufferingMode=1"},
			[]clr.Kind{clr.KindProcessInfo, clr.KindRuntimeInformationDCStart},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := shortFolder(t)
			p := newProvider(t, emit.ProviderOptions{})
			s, _ := serve(t, p, append(test.env, "DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath="+folder+"/x-{pid}.nettrace")...)
			if (s.Address() != "") != test.clients {
				t.Errorf("address %q", s.Address())
			}
			thread := p.NewThread()
			thread.Raise(&clr.GCStart{})
			thread.Raise(&clr.GCAllocationTick{})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(folder + "/x-*.nettrace")
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			b, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			var got []clr.Kind
			for _, ev := range readAll(t, bytes.NewBuffer(b)) {
				got = append(got, clr.KindOf(ev.Desc.Provider, ev.Desc.ID))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	p := newProvider(t, emit.ProviderOptions{})
	env := []string{"DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath=" + t.TempDir()}
	if _, err := emit.Serve(t.Context(), p, emit.ServeOptions{Environment: env, Folder: shortFolder(t)}); err == nil {
		t.Error("a folder is no file")
	}
}
