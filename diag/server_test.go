package diag

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A tape is a Tracing for tests: it writes a text for each beat until it is stopped, then
// its end.
type tape struct {
	beat time.Duration
	once sync.Once
	stop chan struct{}
	ran  chan error
}

func newTape(beat time.Duration) *tape {
	return &tape{beat: beat, stop: make(chan struct{}), ran: make(chan error, 1)}
}

func (p *tape) Stop() { p.once.Do(func() { close(p.stop) }) }

func (p *tape) Run(w io.Writer) (err error) {
	defer func() { p.ran <- err }()
	tick := time.NewTicker(p.beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, err = w.Write([]byte("beat "))
		case <-p.stop:
			_, err = w.Write([]byte("end"))
			return err
		}
		if err != nil {
			return err
		}
	}
}

// serveTest starts a server for a test, and returns a client of it.
func serveTest(tb testing.TB, opt ServerOptions) (*Server, *Client) {
	tb.Helper()
	if runtime.GOOS != "windows" && opt.Folder == "" {
		opt.Folder = shortFolder(tb)
	}
	if opt.Collect == nil {
		opt.Collect = func(Config) (Tracing, error) { return newTape(time.Millisecond), nil }
	}
	s, err := Serve(opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s, NewClient(s.Address())
}

// shortFolder returns a folder whose path leaves room for a socket's name.
func shortFolder(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

var madeUp = Info{
	PID: 7, Cookie: Cookie{1, 2, 3}, CommandLine: "/app/gäme -x", OS: "Linux", Arch: "x64",
	EntryAssembly: "gäme", RuntimeVersion: "10.0.0", RID: "linux-x64",
}

// TestServerAnswers: a client reads the description that the server was given.
func TestServerAnswers(t *testing.T) {
	env := []string{"A=1", "B=é", "C=", strings.Repeat("long=", 50_000)}
	var asked Config
	_, c := serveTest(t, ServerOptions{Info: madeUp, Environment: env, Collect: func(config Config) (Tracing, error) {
		asked = config
		return newTape(time.Millisecond), nil
	}})
	ctx := t.Context()
	if info, err := c.Info(ctx); err != nil || *info != madeUp {
		t.Errorf("%+v, %v", info, err)
	}
	for _, cmd := range []command{cmdProcessInfo, cmdProcessInfo2} {
		a, err := c.ask(ctx, newRequest(cmd))
		if err != nil {
			t.Fatal(err)
		}
		var info Info
		info.layout(cmd, a)
		if a.err != nil || len(a.b) > 0 || info.CommandLine != madeUp.CommandLine {
			t.Errorf("%v: %+v", cmd, info)
		}
	}
	if got, err := c.Environment(ctx); err != nil || !reflect.DeepEqual(got, env) {
		t.Errorf("%d variables, %v", len(got), err)
	}
	if err := c.Resume(ctx); err != nil {
		t.Error(err)
	}
	for cmd := cmdCollectTracing; cmd <= cmdCollectTracing6; cmd++ {
		want := Config{BufferMB: 9, Rundown: RundownGC, NoStacks: true, Block: true, Providers: []Provider{
			{Name: "P", Keywords: 0x8003, Level: 5, Arguments: "k=v", Events: []uint32{1, 2}}, {Name: "Q", Events: []uint32{}}, {Name: "R", Except: []uint32{3}},
		}}
		want = want.grantedBy(cmd)
		in, a, err := c.exchange(ctx, want.request(cmd))
		if err != nil {
			t.Fatal(cmd, err)
		}
		if !reflect.DeepEqual(asked, want) {
			t.Errorf("%v:\n got %+v\nwant %+v", cmd, asked, want)
		}
		s := &Session{client: c, in: in, over: make(chan struct{})}
		a.u64(&s.ID)
		if err := s.Close(); err != nil {
			t.Error(cmd, err)
		}
	}
}

// TestServerRefuses compares refusals with the answers of .NET 10. Cases marked with *
// differ: see docs/diagnostics.md.
func TestServerRefuses(t *testing.T) {
	_, c := serveTest(t, ServerOptions{Info: Info{CommandLine: strings.Repeat("x", 40_000)}, Collect: func(c Config) (Tracing, error) {
		if c.BufferMB == 2 {
			return nil, errors.New("no")
		}
		return nil, NotYetAvailable
	}})
	const ct4, ct5, ct6 = cmdCollectTracing4, cmdCollectTracing5, cmdCollectTracing6
	p := func(level uint32) fields { return fields{}.u64(1).u32(level).str("P").str("") }
	config := func(mb, format uint32, providers ...fields) fields {
		f := fields{}.u32(mb).u32(format).u64(1).u8(0).u32(uint32(len(providers)))
		return append(f, bytes.Join(asBytes(providers), nil)...)
	}
	for _, test := range []struct {
		name    string
		request []byte
		want    HRESULT
	}{
		{"no such set", fields{}.message(0x0501), UnknownCommand},
		{"set of zero", fields{}.message(0), UnknownCommand},
		{"no dump command", fields{}.message(0x01ff), UnknownCommand},
		{"no tracing command", fields{}.message(0x02ff), UnknownCommand},
		{"no profiler command", fields{}.message(0x03ff), UnknownCommand},
		{"no process command", fields{}.message(0x04ff), UnknownCommand},
		{"an answer", fields{}.message(answerOK), UnknownCommand},
		{"dump *", fields{}.message(cmdWriteDump), NotSupported},
		{"profiler *", fields{}.message(cmdAttachProfiler), NotSupported},
		{"perf map *", fields{}.u32(1).message(cmdEnablePerfMap), NotSupported},
		{"environment *", fields{}.str("A").str("B").message(cmdSetEnvironment), NotSupported},
		{"hook *", fields{}.str("A").message(cmdApplyStartupHook), NotSupported},
		{"magic", append([]byte("DOTNET_IPC_V2\x00"), 20, 0, 4, 0, 0, 0), UnknownMagic},
		{"http", []byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n"), UnknownMagic},
		{"size", append([]byte("DOTNET_IPC_V1\x00"), 19, 0, 4, 0, 0, 0), BadEncoding},
		{"short stop *", fields{}.u32(1).message(cmdStopTracing), BadEncoding},
		{"no providers", config(1, 1).message(ct4), BadEncoding},
		{"level", config(1, 1, p(6)).message(ct4), BadEncoding},
		{"level of 256", config(1, 1, p(256)).message(ct4), BadEncoding},
		{"no name", config(1, 1, fields{}.u64(1).u32(4).u32(0).u32(0)).message(ct4), BadEncoding},
		{"buffer", config(0, 1, p(4)).message(ct4), BadEncoding},
		{"format", config(1, 2, p(4)).message(ct4), BadEncoding},
		{"netperf *", config(1, 0, p(4)).message(ct4), BadEncoding},
		{"1001 providers", config(1, 1, slicesRepeat(p(4), 1001)...).message(ct4), BadEncoding},
		{"more providers than bytes", fields{}.u32(1).u32(1).u64(1).u8(0).u32(1 << 31).message(ct4), BadEncoding},
		{"unterminated", config(1, 1, fields{}.u64(1).u32(4).u32(2).u16('A').u16('B')).message(ct4), BadEncoding},
		{"string without end", config(1, 1, fields{}.u64(1).u32(4).u32(1<<31+1)).message(ct4), BadEncoding},
		{"cut", config(1, 1, p(4)[:20]).message(ct4), BadEncoding},
		{"no filter", append(fields{}.u32(0), config(1, 1, p(4))...).message(ct5), BadEncoding},
		{"no mode", append(fields{}.u32(0), config(1, 1, p(4).u8(0).u32(0))...).message(ct6), BadEncoding},
		{"user events", append(fields{}.u32(1).u64(1).u32(1), p(4).u8(0).u32(0).str("tp").u32(0)...).message(ct5), Fail},
		{"output", append(fields{}.u32(2), config(1, 1, p(4))...).message(ct5), BadEncoding},
		{"refused by the program", config(1, 1, p(4)).message(ct4), NotYetAvailable},
		{"failed in the program", config(2, 1, p(4)).message(ct4), Fail},
		{"too much to tell", fields{}.message(cmdProcessInfo), Fail},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, err := c.connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if _, err := in.Write(test.request); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(in)
			if err != nil && !reset(err) || !bytes.Equal(got, refuse(test.want)) {
				t.Errorf("%x, %v, want %v", got, err, test.want)
			}
		})
	}
}

func asBytes(all []fields) [][]byte {
	b := make([][]byte, len(all))
	for i := range all {
		b[i] = all[i]
	}
	return b
}

func slicesRepeat(f fields, n int) []fields {
	all := make([]fields, n)
	for i := range all {
		all[i] = f
	}
	return all
}

// TestServedSession: a trace ends, and its stream is closed, before Stop is
// answered; a client that goes ends its session; the end of the server ends the
// others.
func TestServedSession(t *testing.T) {
	tapes := make(chan *tape, 3)
	s, c := serveTest(t, ServerOptions{Collect: func(Config) (Tracing, error) {
		p := newTape(time.Millisecond)
		tapes <- p
		return p, nil
	}})
	begin := func() (*Session, *tape) {
		session, err := c.Collect(t.Context(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(session, make([]byte, 5)); err != nil {
			t.Error(err)
		}
		return session, <-tapes
	}
	stopped, _ := begin()
	req := newRequest(cmdStopTracing)
	req.u64(&stopped.ID)
	var id uint64
	a, err := c.ask(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if a.u64(&id); id != stopped.ID {
		t.Errorf("stopped %d, not %d", id, stopped.ID)
	}
	// Stop is answered: all there is to be read is there.
	if err := stopped.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(stopped); err != nil || !strings.HasSuffix(string(b), "end") {
		t.Errorf("%q, %v", b, err)
	}
	if err := stopped.Close(); err != nil {
		t.Error(err)
	}

	gone, tape := begin()
	gone.in.Close()
	if err := <-tape.ran; err == nil {
		t.Error("the trace was written to nobody")
	}

	left, _ := begin()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(left); err != nil || !strings.HasSuffix(string(b), "end") {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := c.Info(t.Context()); !refused(errors.Unwrap(err)) {
		t.Errorf("after the end: %v", err)
	}
	left.in.Close()
}

// TestServerBearsWithClients: clients that are slow, silent or stop halfway delay no
// other client, and do not keep the server from closing.
func TestServerBearsWithClients(t *testing.T) {
	s, c := serveTest(t, ServerOptions{Info: madeUp, Collect: func(Config) (Tracing, error) { return newTape(time.Hour), nil }})
	request, err := newRequest(cmdProcessInfo).encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(request) { // nothing, and every part of it
		in, err := c.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := in.Write(request[:n]); err != nil {
			t.Fatal(err)
		}
		if n%2 == 1 {
			in.Close()
		}
	}
	idle, err := c.Collect(t.Context(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	defer idle.in.Close()
	in, err := c.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := byteByByte(in, request, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if a, err := readMessage(in); err != nil || a.cmd != answerOK {
		t.Errorf("byte by byte: %+v, %v", a, err)
	}
	if _, err := c.Info(t.Context()); err != nil {
		t.Error(err)
	}
	begun := time.Now()
	if err := s.Close(); err != nil || time.Since(begun) > requestTimeout/2 {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// TestIdleClients: clients that connect and send nothing keep no other client out.
func TestIdleClients(t *testing.T) {
	_, c := serveTest(t, ServerOptions{Info: madeUp})
	for range 4 * maxConnections {
		in, err := c.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
	}
	c.Timeout = requestTimeout / 2
	if _, err := c.Info(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRequestTimeout: half a request is given up.
func TestRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(Server)
		client, c := net.Pipe()
		_ = c.SetDeadline(time.Now().Add(requestTimeout))
		go s.serve(c, c, &s.own)
		begun := time.Now()
		if _, err := client.Write([]byte(messageMagic)); err != nil {
			t.Error(err)
		}
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(begun) != requestTimeout {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

func TestParsePortVariable(t *testing.T) {
	for value, want := range map[string][]DialPort{
		"":                        nil,
		";,;":                     nil,
		"/a":                      {{Path: "/a"}},
		"/a,nosuspend":            {{"/a", true}},
		"/a,CONNECT,Suspend":      {{Path: "/a"}},
		"/a,nosuspend,other;/b;":  {{"/a", true}, {Path: "/b"}},
		"/a,listen":               nil,
		"/a,listen,,connect,,":    {{Path: "/a"}},
		"a b,nosuspend,suspend":   {{Path: "a b"}},
		"/a,suspend,nosuspend;/b": {{"/a", true}, {Path: "/b"}},
	} {
		if got := ParsePortVariable(value); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", value, got)
		}
	}
	variable, err := PortVariable("/a", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := ParsePortVariable(strings.TrimPrefix(variable, "DOTNET_DiagnosticPorts=")); !reflect.DeepEqual(got, []DialPort{{"/a", true}}) {
		t.Errorf("%s: %+v", variable, got)
	}
}

// TestServedPorts: a server dials its ports, even if they appear later, serves one
// command after the other there, and waits to be resumed by the suspending ones.
func TestServedPorts(t *testing.T) {
	folder := shortFolder(t)
	ports := []DialPort{{Path: filepath.Join(folder, "a")}, {filepath.Join(folder, "b"), true}, {Path: filepath.Join(folder, "c")}}
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of sockets")
	}
	s, own := serveTest(t, ServerOptions{Info: madeUp, Ports: ports, Suspended: true, Folder: folder})
	time.Sleep(2 * firstRedial) // lets it dial ports that are not there
	var clients []*Client
	for _, p := range ports {
		l, err := Listen(p.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		r, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.PID != madeUp.PID || r.Cookie != madeUp.Cookie {
			t.Errorf("%+v", r)
		}
		clients = append(clients, r.Client)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Resumed(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a suspended process goes on: %v", err)
	}
	for i, c := range []*Client{own, clients[0], clients[1], clients[2]} {
		select {
		case <-s.resumed:
			t.Errorf("resumed before %d", i)
		default:
		}
		for range 2 {
			if info, err := c.Info(t.Context()); err != nil || *info != madeUp {
				t.Errorf("port %d: %+v, %v", i, info, err)
			}
			if err := c.Resume(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	if err := s.Resumed(t.Context()); err != nil {
		t.Error(err)
	}
	session, err := clients[0].Collect(t.Context(), Config{BufferMB: 1, Providers: []Provider{gcProvider}})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}
