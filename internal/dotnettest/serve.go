package dotnettest

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"testing"
)

// Serve listens at an address until the test ends, and serves each connection on its own, which
// it closes afterwards. At the end of the test it closes the connections that are still open, and
// waits until serve has returned for each. It returns the address that it listens at.
func Serve(t testing.TB, network, address string, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	open, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		end()
		serving.Wait()
	})
	serving.Go(func() {
		accept(l, func(c net.Conn) {
			defer context.AfterFunc(open, func() { c.Close() })()
			serve(c)
		})
	})
	return l.Addr().String()
}

// accept serves the connections of a listener. It returns when the listener is closed, and all
// connections have been served.
func accept(l net.Listener, serve func(net.Conn)) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer c.Close()
			serve(c)
		})
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
