package lttng

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/hosttest"
)

func TestParse(t *testing.T) {
	for s, want := range map[string]string{
		"net://localhost/host/vm/s":     "net://localhost:5344/host/vm/s",
		"tcp://10.0.0.1:99/host/vm/s/":  "net://10.0.0.1:99/host/vm/s",
		"net://[::1]/host/vm/s":         "net://[::1]:5344/host/vm/s",
		"net://localhost":               "",
		"net://localhost/host/vm":       "",
		"net://localhost/host//s":       "",
		"http://localhost/host/vm/s":    "",
		"localhost/host/vm/s":           "",
		"net:///host/vm/s":              "",
		"net://localhost/host/vm/s/t":   "",
		"net://localhost/session/vm/s":  "",
		"net://localhost:x/host/vm/s":   "",
		"net6://[fe80::1]:7/host/a/b":   "net://[fe80::1]:7/host/a/b",
		"net4://relay.example/host/a/b": "net://relay.example:5344/host/a/b",
	} {
		a, err := Parse(s)
		if got := a.String(); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%s: %s %v, want %q", s, got, err, want)
		}
	}
}

// freePort returns a port that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// lttng runs a command. It skips the test if that fails for long.
func lttng(t *testing.T, args ...string) {
	t.Helper()
	if err := hosttest.Repeated(t, "lttng", args...); err != nil {
		t.Skip(err)
	}
}

// TestReceiveReal receives a program's collections from a relay daemon while they are
// recorded.
func TestReceiveReal(t *testing.T) {
	if _, err := exec.LookPath("lttng"); err != nil {
		t.Skip("LTTng is not installed")
	}
	const testdata = "../collect/testdata"
	program := filepath.Join(t.TempDir(), "probe")
	if out, err := exec.Command("gcc", "-I"+testdata, "-o", program, testdata+"/probe.c", "-llttng-ust", "-ldl").CombinedOutput(); err != nil {
		t.Skipf("no C compiler with liblttng-ust-dev: %v %.200s", err, out)
	}
	control, data, viewers := freePort(t), freePort(t), freePort(t)
	hosttest.LTTng(t)
	hosttest.Start(t, "lttng-relayd", "-C", "tcp://127.0.0.1:"+control, "-D", "tcp://127.0.0.1:"+data, "-L", "tcp://127.0.0.1:"+viewers, "-o", t.TempDir())
	session := "live-" + strconv.Itoa(os.Getpid())
	lttng(t, "create", session, "--live=100000", "-C", "tcp://127.0.0.1:"+control, "-D", "tcp://127.0.0.1:"+data)
	destroy := sync.OnceFunc(func() { _ = exec.Command("lttng", "destroy", session).Run() })
	t.Cleanup(destroy)
	lttng(t, "enable-event", "-u", "-s", session, "DotNETRuntime:GC*")
	lttng(t, "add-context", "-u", "-s", session, "-t", "vpid", "-t", "vtid", "-t", "procname")
	lttng(t, "start", session)

	const n = 200
	cmd := exec.Command(program, strconv.Itoa(n))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	address := Address{"127.0.0.1:" + viewers, host, session}
	wrong := address
	wrong.Session = "none"
	missing, ok := errors.AsType[*NoSessionError](func() error { _, err := Attach(ctx, wrong, t.TempDir()); return err }())
	if !ok || len(missing.Others) != 1 || missing.Others[0] != address.String() {
		t.Errorf("%+v", missing)
	}
	folder := t.TempDir()
	r, err := Attach(ctx, address, folder)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(in, "\n")
		_, _ = bufio.NewReader(out).ReadString('\n')
		in.Close()
		_ = cmd.Wait()
		destroy()
	}()
	if err := errors.Join(r.Receive(ctx), r.Close()); err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	reader, err := ctf.Open(os.DirFS(folder), ctf.Options{Want: gc.Wants, Resolve: clr.Tracepoint})
	if err != nil {
		t.Fatal(err)
	}
	var m gc.Model
	var numbers []uint32
	for c, err := range m.Collections(reader) {
		if err != nil {
			t.Fatal(err)
		}
		if len(numbers)+1 != int(c.Number) || c.Pause().Or(0) < 500*time.Microsecond {
			t.Errorf("after %d: collection %d, pause %v", len(numbers), c.Number, c.Pause())
		}
		numbers = append(numbers, c.Number)
	}
	if len(numbers) != n || reader.Loss().Events > 0 || reader.Loss().Truncated {
		t.Errorf("%d collections, want %d; lost %+v", len(numbers), n, reader.Loss())
	}
}

// A replay is a daemon that answers anything with the same bytes.
func replay(t *testing.T, answer []byte) string {
	t.Helper()
	return dotnettest.Serve(t, "tcp", "127.0.0.1:0", func(c net.Conn) {
		_, _ = c.Write(answer)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	})
}

// TestMetadata: a stream that the daemon has dropped has no more metadata, which is no error;
// answers that there are none of are.
func TestMetadata(t *testing.T) {
	for _, c := range []struct {
		name   string
		status uint32
		text   string
		more   bool
		err    error
	}{
		{"new", statusOK, "env {}", true, nil},
		{"none", metadataNone, "", false, nil},
		{"dropped", metadataGone, "", false, nil},
		{"unknown", 9, "", false, ErrProtocol},
	} {
		be := binary.BigEndian
		answer := append(be.AppendUint32(be.AppendUint64(nil, uint64(len(c.text))), c.status), c.text...)
		conn, err := net.Dial("tcp", replay(t, answer))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		of := &client{conn: conn}
		if more := of.metadata(1, &got); more != c.more || got.String() != c.text || !errors.Is(of.err, c.err) {
			t.Errorf("%s: %t, %q, %v", c.name, more, &got, of.err)
		}
		conn.Close()
	}
}

// TestHostile: a daemon that answers nonsense gives an error, and fills no disk.
func TestHostile(t *testing.T) {
	be := binary.BigEndian
	connected := be.AppendUint32(be.AppendUint32(be.AppendUint32(be.AppendUint64(nil, 1), major), 4), clientCommand)
	created := be.AppendUint32(bytes.Clone(connected), statusOK)
	many := be.AppendUint32(bytes.Clone(created), 0xffffffff)
	one := be.AppendUint32(bytes.Clone(created), 1)
	named := append(be.AppendUint64(bytes.Clone(one), 7), make([]byte, 3*4+maxHost+maxName)...)
	copy(named[len(named)-maxHost-maxName:], "h")
	copy(named[len(named)-maxName:], "s")
	answers := [][]byte{nil, {1}, connected, created, many, one, named, append(bytes.Clone(named), bytes.Repeat([]byte{0xff}, 100)...), append(be.AppendUint32(be.AppendUint32(bytes.Clone(named), 1), 3), make([]byte, 9000)...)}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		noise := make([]byte, random.IntN(20_000))
		for i := range noise {
			noise[i] = byte(random.UintN(256) & random.UintN(256) & random.UintN(256))
		}
		// Up to the session, then one attached stream, then anything.
		head := be.AppendUint32(be.AppendUint32(bytes.Clone(named), statusOK), 1)
		answers = append(answers, append(append(head, make([]byte, 8+8+4+maxPath+maxName)...), noise...))
	}
	for i, answer := range answers {
		folder := t.TempDir()
		ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
		r, err := Attach(ctx, Address{replay(t, answer), "h", "s"}, folder)
		if err == nil {
			err = errors.Join(r.Receive(ctx), r.Close())
		}
		if err == nil || ctx.Err() != nil {
			t.Errorf("answer %d: %v, %v", i, err, ctx.Err())
		}
		stop()
	}
}
