package dotnettest

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unicode/utf16"
)

// Commands, and the commands that answer them.
const (
	StopTracing = 0x0201
	ProcessInfo = 0x0400
	OK          = 0xff00
	Error       = 0xffff

	unknownCommand = 0x80131385
	headerSize     = 20
)

// A Runtime listens at a socket, accepts every kind of session, writes the first part of
// a trace, and when it is stopped the rest.
type Runtime struct {
	Refusal     uint32        // of sessions, 0 for none
	HangsUp     bool          // after the first part
	Ends        bool          // with its trace
	Began       chan struct{} // is closed when the first part was written
	CommandLine string        // that it reports

	// Write, if not nil, writes the trace in place of the two parts.
	Write func(c net.Conn, stop <-chan struct{})
	// Hasty reports that it answers a request to stop without ending the trace.
	Hasty bool

	first, rest []byte
	stop        chan struct{}
	ended       chan struct{}
}

// NewRuntime returns a runtime that does not listen yet. Without a rest it hangs up
// after the first part.
func NewRuntime(first, rest []byte) *Runtime {
	return &Runtime{
		first: first, rest: rest, HangsUp: rest == nil, CommandLine: "/app/web",
		Began: make(chan struct{}), stop: make(chan struct{}), ended: make(chan struct{}),
	}
}

// Listen starts the runtime, and returns the address of its socket.
func (r *Runtime) Listen(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the runtime of the test listens at a Unix socket")
	}
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go accept(l, func(c net.Conn) {
		r.serve(c)
		if r.Ends {
			l.Close()
		}
	})
	return path
}

func (r *Runtime) serve(c net.Conn) {
	answer(c, r.CommandLine, func(command uint16, payload []byte) {
		switch {
		case command == StopTracing:
			close(r.stop)
			if !r.Hasty {
				<-r.ended
			}
			Answer(c, OK, payload[:8])
		case r.Refusal != 0:
			Answer(c, Error, binary.LittleEndian.AppendUint32(nil, r.Refusal))
		default:
			defer close(r.ended)
			Answer(c, OK, make([]byte, 8))
			r.send(c)
		}
	})
}

// send sends a trace.
func (r *Runtime) send(c net.Conn) {
	if r.Write != nil {
		r.Write(c, r.stop)
		return
	}
	_, _ = c.Write(r.first) // who asked may have gone
	close(r.Began)
	if !r.HangsUp {
		<-r.stop
		_, _ = c.Write(r.rest) // who asked may have gone
	}
}

// Stopped reports whether the runtime was asked to end its trace.
func (r *Runtime) Stopped() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// Answer writes a message.
func Answer(w io.Writer, command uint16, payload []byte) {
	b := []byte("DOTNET_IPC_V1\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(headerSize+len(payload)))
	b = append(b, byte(command>>8), byte(command), 0, 0)
	_, _ = w.Write(append(b, payload...))
}

// Info returns the answer of .NET 5 for a process with this process's id. Its cookie is that of
// the command line.
func Info(commandLine string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(os.Getpid()))
	b = append(b, "a cookie of "...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(commandLine)))
	for _, s := range []string{commandLine, "Linux", "x64"} {
		units := utf16.Encode([]rune(s + "\x00"))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
		for _, u := range units {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
	}
	return b
}
