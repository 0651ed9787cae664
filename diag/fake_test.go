package diag

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// fields are the bytes of a message in the order of the protocol's description.
type fields []byte

func (f fields) u8(v uint8) fields { return append(f, v) }

func (f fields) u16(v uint16) fields { return binary.LittleEndian.AppendUint16(f, v) }

func (f fields) u32(v uint32) fields { return binary.LittleEndian.AppendUint32(f, v) }

func (f fields) u64(v uint64) fields { return binary.LittleEndian.AppendUint64(f, v) }

func (f fields) str(s string) fields {
	if s == "" {
		return f.u32(0)
	}
	units := utf16.Encode([]rune(s + "\x00"))
	f = f.u32(uint32(len(units)))
	for _, u := range units {
		f = f.u16(u)
	}
	return f
}

// message puts a header before the fields.
func (f fields) message(cmd command) []byte {
	m := fields("DOTNET_IPC_V1\x00").u16(uint16(20 + len(f))).u8(uint8(cmd >> 8)).u8(uint8(cmd)).u16(0)
	return append(m, f...)
}

func ok(f fields) []byte { return f.message(0xff00) }

func refuse(code HRESULT) []byte { return fields{}.u32(uint32(code)).message(0xffff) }

// byteByByte writes a message in pieces of a byte, with a pause before each.
func byteByByte(w io.Writer, message []byte, pause time.Duration) error {
	_, err := io.Copy(dotnettest.SlowWriter{W: w, Pause: pause}, iotest.OneByteReader(bytes.NewReader(message)))
	return err
}

// A fake is a runtime in a test: it answers each connection's request.
type fake struct {
	t       testing.TB
	respond func(cmd command, payload []byte, c net.Conn)

	mu    sync.Mutex
	asked []command
	busy  sync.WaitGroup
}

// newFake answers each command with the message that respond returns. If that is nil, it
// sends nothing and leaves the connection open.
func newFake(t testing.TB, respond func(cmd command, payload []byte) []byte) *fake {
	return &fake{t: t, respond: func(cmd command, payload []byte, c net.Conn) {
		answer := respond(cmd, payload)
		if answer == nil {
			io.Copy(io.Discard, c)
			return
		}
		c.Write(answer)
	}}
}

// client returns a client whose connections are pipes to the fake.
func (f *fake) client() *Client {
	return &Client{connect: func(context.Context) (conn, error) {
		in, out := net.Pipe()
		f.busy.Go(func() { f.serve(out) })
		return in, nil
	}}
}

// serve reads a request, which comes in one write, and answers it.
func (f *fake) serve(c net.Conn) {
	defer c.Close()
	b := make([]byte, maxMessage+1)
	n, err := c.Read(b)
	if err != nil {
		return
	}
	if n < headerSize || int(binary.LittleEndian.Uint16(b[14:])) != n {
		f.t.Errorf("a request came in pieces, the first with %d bytes", n)
		return
	}
	cmd := command(b[16])<<8 | command(b[17])
	f.mu.Lock()
	f.asked = append(f.asked, cmd)
	f.mu.Unlock()
	f.respond(cmd, b[headerSize:n], c)
}

// serveOn has a fake serve a listener's connections.
func serveOn(t *testing.T, l net.Listener, f *fake) {
	t.Cleanup(func() {
		l.Close()
		f.busy.Wait()
	})
	f.busy.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.busy.Go(func() { f.serve(c) })
		}
	})
}
