package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// A raw is a client that writes what it likes.
type raw struct {
	to     io.WriteCloser
	lines  chan string
	served chan error
}

func serveRaw(t *testing.T, o Options, command Command) *raw {
	t.Helper()
	s, err := New(o, command)
	if err != nil {
		t.Fatal(err)
	}
	requests, to := io.Pipe()
	from, answers := io.Pipe()
	c := &raw{to: to, lines: make(chan string, 100), served: make(chan error, 1)}
	go func() { c.served <- s.Serve(context.Background(), requests, answers) }()
	go func() {
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			c.lines <- scanner.Text()
		}
	}()
	c.send(t, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	c.answer(t)
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *raw) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.to, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// patience is far above the time that anything takes.
const patience = time.Minute

type rawAnswer struct {
	ID    any
	Error *struct{ Code int }
}

func (c *raw) answer(t *testing.T) rawAnswer {
	t.Helper()
	select {
	case line := <-c.lines:
		var a rawAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return a
	case <-time.After(patience):
		t.Fatal("no answer")
	}
	return rawAnswer{}
}

func (c *raw) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-c.served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the server goes on")
	}
}

// TestMalformed: whatever a client writes, the server answers and continues.
func TestMalformed(t *testing.T) {
	c := serveRaw(t, Options{Root: folder(t)}, echo)
	for _, test := range []struct {
		line string
		code int // 0 for no answer
		id   any
	}{
		{`not JSON`, -32700, nil},
		{`{`, -32700, nil},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"`, -32700, nil},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, -32700, nil},
		{"\x00\xff\xfe", -32700, nil},
		{"\ufeff{}", -32700, nil},
		{strings.Repeat("[", 100_000), -32700, nil},
		{`"` + strings.Repeat("x", maxLine) + `"`, -32600, nil},
		{`[]`, -32600, nil},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, nil},
		{`null`, -32600, nil},
		{`42`, -32600, nil},
		{`{}`, -32600, nil},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, 1.0},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, nil},
		{`{"jsonrpc":"2.0","id":2,"method":7}`, -32600, 2.0},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, nil},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, 1.5},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, 9007199254740992.0},
		{`{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, -32600, nil},
		{`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`, -32600, 7.0},
		{`{"jsonrpc":"2.0","id":3,"method":"none"}`, -32601, 3.0},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[]}`, -32602, 4.0},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"none"}}`, -32602, 5.0},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, 0, nil},
		{`{"jsonrpc":"2.0","id":6,"result":{}}`, 0, nil},
		{"", 0, nil},
	} {
		c.send(t, test.line)
		if test.code != 0 {
			if a := c.answer(t); a.Error == nil || a.Error.Code != test.code || a.ID != test.id {
				t.Errorf("%.50s: %+v (%+v), want %d, id %v", test.line, a, a.Error, test.code, test.id)
			}
		}
		c.send(t, `{"jsonrpc":"2.0","id":"next","method":"ping"}`)
		if a := c.answer(t); a.Error != nil || a.ID != "next" {
			t.Errorf("after %.50s: %+v (%+v)", test.line, a, a.Error)
		}
	}
	if err := c.to.Close(); err != nil {
		t.Error(err)
	}
	c.ends(t)
}

// TestSameID: a second request with the id of a pending one is refused.
func TestSameID(t *testing.T) {
	begun, end := make(chan bool), make(chan bool)
	c := serveRaw(t, Options{Root: folder(t)}, func(ctx context.Context, args []string, out, notes io.Writer) int {
		close(begun)
		<-end
		return echo(ctx, args, out, notes)
	})
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"processes"}}`
	c.send(t, request)
	<-begun
	c.send(t, request)
	if a := c.answer(t); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("%+v", a)
	}
	close(end)
	if a := c.answer(t); a.Error != nil || a.ID != 1.0 {
		t.Errorf("%+v (%+v)", a, a.Error)
	}
}

// TestDeadClient: a client that dies ends the server, even while a command blocks and
// ignores its context. A client that only closes its side gets the answers.
func TestDeadClient(t *testing.T) {
	t.Parallel()
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"processes"}}`
	begun, never := make(chan bool), make(chan bool)
	c := serveRaw(t, Options{Root: folder(t)}, func(context.Context, []string, io.Writer, io.Writer) int {
		close(begun)
		<-never
		return 0
	})
	c.send(t, request)
	<-begun
	_ = c.to.Close()
	c.ends(t)
	close(never)

	c = serveRaw(t, Options{Root: folder(t)}, echo)
	c.send(t, request)
	_ = c.to.Close()
	if a := c.answer(t); a.Error != nil || a.ID != 1.0 {
		t.Errorf("%+v (%+v)", a, a.Error)
	}
	c.ends(t)
}

// TestDeafClient: a client that leaves without having read its answer ends the server.
func TestDeafClient(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Root: folder(t)}, echo)
	if err != nil {
		t.Fatal(err)
	}
	_, answers := io.Pipe() // nobody reads
	c := &raw{served: make(chan error, 1)}
	requests := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	go func() { c.served <- s.Serve(context.Background(), io.NopCloser(requests), answers) }()
	c.ends(t)
}
