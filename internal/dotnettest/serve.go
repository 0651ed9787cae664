package dotnettest

import (
	"encoding/binary"
	"net"
	"testing"
)

// Serve listens at an address until the test ends, and serves each connection on its own, which
// it closes afterwards. It returns the address that it listens at.
func Serve(t testing.TB, network, address string, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go accept(l, serve)
	return l.Addr().String()
}

func accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			serve(c)
		}()
	}
}

// Answering answers questions about a process with this command line, and accepts every session,
// whose bytes session writes.
func Answering(commandLine string, session func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		answer(c, commandLine, func(command uint16, _ []byte) {
			if command != StopTracing {
				Answer(c, OK, make([]byte, 8))
				session(c)
			}
		})
	}
}

// answer reads a request, answers a question about a process with this command line, and refuses
// commands that .NET 5 does not have. The ones of sessions it leaves to tracing.
func answer(c net.Conn, commandLine string, tracing func(command uint16, payload []byte)) {
	b := make([]byte, 1<<16)
	if n, err := c.Read(b); err != nil || n < headerSize {
		return
	}
	switch command := binary.BigEndian.Uint16(b[headerSize-4:]); {
	case command == ProcessInfo:
		Answer(c, OK, Info(commandLine))
	case command > ProcessInfo:
		Answer(c, Error, binary.LittleEndian.AppendUint32(nil, unknownCommand))
	default:
		tracing(command, b[headerSize:])
	}
}
