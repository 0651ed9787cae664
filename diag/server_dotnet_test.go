//go:build linux

package diag_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
)

// TestServerAnswersLikeRuntime: a server with the description of a real runtime answers
// in the same bytes. It leaves out requests that end runtimes, and the differences that
// docs/diagnostics.md lists.
func TestServerAnswersLikeRuntime(t *testing.T) {
	ctx := limited(t)
	p := start(ctx, t, 10, "idle", 20)
	env, err := p.Client().Environment(ctx)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	s, err := diag.Serve(diag.ServerOptions{Info: *p.Info, Environment: env, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, address := range []string{p.Address, s.Address()} {
		if info, err := os.Stat(address); err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("%s: %v, %v", address, info.Mode(), err)
		}
	}

	le := binary.LittleEndian
	tracing := func(mb, format, providers, level uint32) []byte {
		b := le.AppendUint32(le.AppendUint32(nil, mb), format)
		b = append(le.AppendUint64(b, 1), 0) // rundown, stacks
		b = le.AppendUint64(le.AppendUint32(b, providers), 1)
		b = append(le.AppendUint32(le.AppendUint32(b, level), 2), 'P', 0, 0, 0)
		return le.AppendUint32(b, 0)
	}
	const (
		stop    = 0x0201
		collect = 0x0205 // CollectTracing4
		info    = 0x0400
	)
	for _, test := range []struct {
		name    string
		request []byte
	}{
		{"ProcessInfo", request(info, nil)},
		{"ProcessInfo2", request(0x0404, nil)},
		{"ProcessInfo3", request(0x0408, nil)},
		{"ProcessEnvironment", request(0x0402, nil)},
		{"ResumeRuntime", request(0x0401, nil)},
		{"StopTracing of nothing", request(stop, le.AppendUint64(nil, 123))},
		{"no command of the dump set", request(0x01ff, nil)},
		{"no command of the tracing set", request(0x02ff, nil)},
		{"no command of the profiler set", request(0x03ff, nil)},
		{"no command of the process set", request(0x04ff, nil)},
		{"no set", request(0x0500, nil)},
		{"an answer", request(0xff00, nil)},
		{"no magic", append([]byte("DOTNET_IPC_V2"), request(info, nil)[13:]...)[:20]},
		{"size", append(append([]byte("DOTNET_IPC_V1\x00"), 19, 0), request(info, nil)[16:]...)},
		{"no providers", request(collect, tracing(1, 1, 0, 4)[:21])},
		{"too many providers", request(collect, tracing(1, 1, 1001, 4))},
		{"level", request(collect, tracing(1, 1, 1, 6))},
		{"buffer", request(collect, tracing(0, 1, 1, 4))},
		{"format", request(collect, tracing(1, 2, 1, 4))},
		{"cut", request(collect, tracing(1, 1, 1, 4)[:20])},
	} {
		t.Run(test.name, func(t *testing.T) {
			want, got := answer(t, p.Address, test.request), answer(t, s.Address(), test.request)
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%x, the runtime answers\n%x", got, want)
			}
		})
	}
}

// request returns a message of the protocol.
func request(command uint16, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint16([]byte("DOTNET_IPC_V1\x00"), uint16(20+len(payload)))
	return append(append(b, byte(command>>8), byte(command), 0, 0), payload...)
}

// answer reads a message and the bytes that follow it at once. It does not read to the
// end, because a runtime does not always close the connection.
func answer(t *testing.T, address string, request []byte) []byte {
	t.Helper()
	c, err := net.Dial("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 20)
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(c) // until the end, the deadline or a reset
	return append(b, rest...)
}
