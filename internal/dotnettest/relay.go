package dotnettest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Relay listens at an address, and passes the bytes of each connection on to another one, as
// adb and dotnet-dsrouter do. It returns the address that it listens at. A connection whose
// other side cannot be reached is closed.
func Relay(t testing.TB, network, address, toNetwork, to string) string {
	t.Helper()
	address, _ = NewRelay(t, network, address, toNetwork, to)
	return address
}

// NewRelay does the same, and also returns a function that closes the connections of the
// moment, as a cable does that is pulled.
func NewRelay(t testing.TB, network, address, toNetwork, to string) (string, func()) {
	t.Helper()
	r := &relay{open: map[net.Conn]bool{}}
	t.Cleanup(func() { r.closeAll(true) })
	address = Serve(t, network, address, func(c net.Conn) { r.pass(c, toNetwork, to) })
	return address, func() { r.closeAll(false) }
}

// A relay knows its connections, so that it can end with them.
type relay struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

func (r *relay) closeAll(forGood bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = r.closed || forGood
	for c := range r.open {
		_ = c.Close()
	}
}

// hold reports whether a connection may be used, and remembers it.
func (r *relay) hold(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c] = true
	return !r.closed
}

func (r *relay) drop(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
	_ = c.Close()
}

// pass connects to the other side, and copies both ways until one side ends.
func (r *relay) pass(c net.Conn, network, address string) {
	defer r.drop(c)
	other, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer r.drop(other)
	if !r.hold(c) || !r.hold(other) {
		return
	}
	ended := make(chan struct{}, 2)
	copyTo := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go copyTo(other, c)
	go copyTo(c, other)
	<-ended
}
