package diag

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
)

// FuzzAnswers has a runtime answer anything: a command gives a result, or an error that
// names the fault.
func FuzzAnswers(f *testing.F) {
	info := fields{}.u32(1).u64(7).u64(1).u64(2).str("/app/web").str("Linux").str("x64").str("web").str("10.0.12").str("linux-x64")
	env := fields{}.u32(1).str("A=1")
	f.Add(ok(info))
	f.Add(ok(info[4:]))
	f.Add(append(ok(fields{}.u32(uint32(len(env))).u16(0)), env...))
	f.Add(refuse(UnknownCommand))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &Client{connect: func(context.Context) (conn, error) {
			in, out := net.Pipe()
			go func() {
				defer out.Close()
				if _, err := out.Read(make([]byte, maxMessage)); err == nil {
					bytes.NewReader(b).WriteTo(out)
				}
			}()
			return in, nil
		}}
		ctx := context.Background()
		i, err := c.Info(ctx)
		if (i == nil) == (err == nil) {
			t.Errorf("info %v, %v", i, err)
		}
		known(t, err)
		vars, err := c.Environment(ctx)
		if len(vars) > len(b)/4 {
			t.Errorf("%d variables of %d bytes", len(vars), len(b))
		}
		known(t, err)
		known(t, c.DisablePerfMap(ctx))
	})
}

// known fails the test on an error of a kind that callers cannot identify.
func known(t *testing.T, err error) {
	_, refusal := errors.AsType[*RuntimeError](err)
	if err != nil && !refusal && !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrHungUp) {
		t.Errorf("error %v", err)
	}
}

// FuzzRequests sends anything to a server: it answers with a message, or hangs up, and a
// config that it accepts is one that a client may send.
func FuzzRequests(f *testing.F) {
	config := Config{BufferMB: 1, Rundown: RundownGC, Block: true, Providers: []Provider{{Name: "P", Arguments: "a=b", Events: []uint32{1}}}}
	for cmd := cmdCollectTracing; cmd <= cmdCollectTracing6; cmd++ {
		b, err := config.request(cmd).encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(fields{}.message(cmdProcessInfo3))
	f.Add(fields{}.u64(1).message(cmdStopTracing))
	f.Add(fields{}.message(cmdProcessEnvironment))
	f.Fuzz(func(t *testing.T, request []byte) {
		s := &Server{resumed: make(chan struct{}), sessions: map[uint64]*tracingSession{}}
		s.opt.Info, s.opt.Environment = madeUp, []string{"A=1"}
		s.opt.Collect = func(c Config) (Tracing, error) {
			_, err := c.request(cmdCollectTracing6).encode()
			if why, bad := errors.AsType[*RequestError](err); bad && why.Field != "size" {
				t.Errorf("taken: %+v: %v", c, err)
			}
			return nil, Fail
		}
		client, c := net.Pipe()
		go func() {
			client.Write(request)
			client.Close()
		}()
		x := &answers{Conn: c}
		s.serve(x, c, &s.own)
		if n := len(x.b); n > 0 {
			if _, err := readMessage(bytes.NewReader(x.b)); err != nil {
				t.Errorf("answer %x: %v", x.b, err)
			}
		}
	})
}

// answers records the bytes written to a connection.
type answers struct {
	net.Conn
	b []byte
}

func (a *answers) Write(b []byte) (int, error) {
	a.b = append(a.b, b...)
	return len(b), nil
}
