package diag

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestParseTCPPort(t *testing.T) {
	const port, host, mine = "its port must be", "its host is not", "only an address of this machine"
	for text, wrong := range map[string]string{
		"127.0.0.1:9000":                          "",
		"127.0.0.1:9000,listen":                   "",
		"127.0.0.1:9000,connect":                  "",
		"127.0.0.1:9000,Connect":                  "",
		"tcp://127.0.0.1:9000":                    "",
		"[::1]:9000":                              "",
		"[fe80::1%eth0]:65535,connect":            "",
		"localhost:1":                             "",
		"*:9000":                                  "",
		"device.local:9000,connect":               "",
		"127.0.0.1:0":                             port,
		"127.0.0.1:65536,connect":                 port,
		"127.0.0.1:99999999999999999999":          port,
		"tcp://127.0.0.1":                         port,
		"tcp://127.0.0.1:http":                    port,
		"tcp:///tmp/socket":                       port,
		":9000,connect":                           host,
		"*:9000,connect":                          host,
		"[::1/64]:9000,connect":                   "", // a path
		"-x:9000,connect":                         host,
		"a..b:9000,connect":                       host,
		"a b:9000,connect":                        host,
		"\u00e4.de:9000,connect":                  host,
		strings.Repeat("a.", 200) + "a:9,connect": host,
		":9000":             mine,
		"device.local:9000": mine,
	} {
		p, err := ParsePort(text)
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %+v, %v; want %q", text, p, err, wrong)
		}
	}
}

// TestAddressKinds: an address of the form HOST:PORT is not a path, and any other is one.
func TestAddressKinds(t *testing.T) {
	for address, remote := range map[string]bool{
		"127.0.0.1:9000": true, "[::1]:9000": true, "tcp://::1": true, "name:1": true,
		"/tmp/a:9000": false, "./a:9000": false, `\\.\pipe\a:1`: false, "app.sock": false,
		"a:b": false, "a:": false, "9000": false, "::1:9000": false, "": false,
	} {
		if got := (Port{Path: address}).Remote(); got != remote {
			t.Errorf("%q is remote: %v, want %v", address, got, remote)
		}
	}
	for address, exposed := range map[string]bool{
		"127.0.0.1:9": false, "[::1]:9": false, "localhost:9": false, "*:9": true, "0.0.0.0:9": true, "[::]:9": true, "192.168.1.2:9": true, "/tmp/x": false,
	} {
		if got := (Port{Path: address}).Exposed(); got != exposed {
			t.Errorf("%q is exposed: %v, want %v", address, got, exposed)
		}
	}
}

// newTCPListener listens at a free port of the loopback.
func newTCPListener(t *testing.T) *Listener {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// advertiseTCP dials a port as a runtime does, and says who it is.
func advertiseTCP(t *testing.T, address string, cookie byte, pid uint64) net.Conn {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	id := Cookie{cookie, 15: 1}
	c.Write(append(fields("ADVR_V1\x00"), id[:]...).u64(pid).u16(0))
	return c
}

// TestTCPListener: a runtime that connects over TCP has no process of this machine.
func TestTCPListener(t *testing.T) {
	l := newTCPListener(t)
	info := fields{}.u64(77).u64(1).u64(2).str("/data/app").str("Android").str("arm64")
	f := newFake(t, func(cmd command, _ []byte) []byte {
		if cmd != cmdProcessInfo {
			return refuse(UnknownCommand)
		}
		return ok(info)
	})
	served := make(chan struct{})
	go func() {
		defer close(served)
		for range 3 { // ProcessInfo3, 2 and 1
			f.serve(advertiseTCP(t, l.Address(), 1, 77))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Process(ctx)
	if err != nil || p.PID != 0 || p.InnerPID != 77 || p.Name != "app" {
		t.Errorf("%+v, %v", p, err)
	}
	<-served
	if _, err := Listen(l.Address()); !strings.Contains(Remedy(err), "another program is listening there") {
		t.Errorf("%v; %s", err, Remedy(err))
	}
}

// TestStrangersAtListener: strangers who connect in any number, and say nothing, garbage or
// half of what they should, or hang up, do not keep a runtime out.
func TestStrangersAtListener(t *testing.T) {
	half := append(fields("ADVR_V1\x00"), make([]byte, 10)...)
	for name, stranger := range map[string]func(net.Conn){
		"silence":       func(net.Conn) {},
		"garbage":       func(c net.Conn) { c.Write(make([]byte, advertiseSize)) },
		"half":          func(c net.Conn) { c.Write(half) },
		"half and gone": func(c net.Conn) { c.Write(half); c.Close() },
		"a flood": func(c net.Conn) {
			go flood(c)
		},
		"a web browser": func(c net.Conn) { io.WriteString(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1:9000\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			l := newTCPListener(t)
			for range 2 * maxGreeting {
				c, err := net.Dial("tcp", l.Address())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				stranger(c)
			}
			advertiseTCP(t, l.Address(), 7, 9)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if r, err := l.Accept(ctx); err != nil || r.PID != 9 {
				t.Fatalf("%+v, %v", r, err)
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			if len(l.greeting) > maxGreeting || len(l.runtimes) != 1 {
				t.Errorf("%d connections that are not identified, %d runtimes", len(l.greeting), len(l.runtimes))
			}
		})
	}
}

// TestManyIdentities: a peer that pretends to be ever more runtimes is bounded.
func TestManyIdentities(t *testing.T) {
	l := newTCPListener(t)
	l.mu.Lock()
	for n := range maxArrived {
		r := &Runtime{Cookie: Cookie{1: byte(n), 2: byte(n >> 8)}, dialled: make(chan conn, 1)}
		l.runtimes[r.Cookie] = r
	}
	l.mu.Unlock()
	c := advertiseTCP(t, l.Address(), 7, 9)
	c.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !reset(err) {
		t.Errorf("one more runtime was kept: %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.runtimes) != maxArrived {
		t.Errorf("%d runtimes", len(l.runtimes))
	}
}

// TestTCPConnect: a listener on a TCP port is a runtime, or is reported.
func TestTCPConnect(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(net.Conn)
		is     error
	}{
		{"a runtime", func(c net.Conn) { c.Write(ok(fields{}.u32(0))) }, nil},
		{"nothing, and closes", func(net.Conn) {}, ErrHungUp},
		{"silence", hold, ErrNoAnswer},
		{"a flood", flood, ErrProtocol},
		{"a part, and closes", func(c net.Conn) { c.Write(ok(fields{}.u32(0))[:21]) }, ErrHungUp},
		{"another protocol", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") }, ErrProtocol},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			f := &fake{t: t, respond: func(_ command, _ []byte, c net.Conn) { test.answer(c) }}
			serveOn(t, in, f)
			c := NewClient(in.Addr().String())
			if errors.Is(test.is, ErrNoAnswer) {
				c.Timeout = 50 * time.Millisecond
			}
			if err := c.Resume(context.Background()); !errors.Is(err, test.is) {
				t.Errorf("%v, want %v", err, test.is)
			}
		})
	}
}

// TestTCPRefused: a port without a listener is reported with what to check.
func TestTCPRefused(t *testing.T) {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := in.Addr().String()
	in.Close()
	_, err = Port{Path: address, Connect: true}.Process(context.Background())
	if !refused(err) || !strings.HasPrefix(err.Error(), "connect to "+address+": ") || !strings.Contains(Remedy(err), "adb forward") {
		t.Errorf("%v; %s", err, Remedy(err))
	}
}

// TestServeTCPPort: a program that answers clients connects to a TCP port of its variable.
func TestServeTCPPort(t *testing.T) {
	l := newTCPListener(t)
	s, err := Serve(ServerOptions{Info: Info{CommandLine: "app"}, Ports: ParsePortVariable(l.Address() + ",suspend"), Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Resume(ctx), s.Resumed(ctx)); err != nil {
		t.Error(err)
	}
}
