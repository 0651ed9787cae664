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
	address = Serve(t, network, address, func(c net.Conn) { r.pass(c, toNetwork, to) })
	t.Cleanup(r.cut) // first, because Serve closes only the connections that it accepted
	return address, r.cut
}

// A relay knows its connections, so that it can cut them.
type relay struct {
	mu   sync.Mutex
	open map[net.Conn]bool
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		_ = c.Close()
	}
}

func (r *relay) hold(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c] = true
}

func (r *relay) drop(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
	_ = c.Close()
}

// pass connects to the other side, and copies both ways until one side ends.
func (r *relay) pass(c net.Conn, network, address string) {
	other, err := net.Dial(network, address)
	if err != nil {
		return
	}
	r.hold(c)
	r.hold(other)
	ended := make(chan struct{})
	copyTo := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go copyTo(other, c)
	go copyTo(c, other)
	<-ended
	r.drop(c)
	r.drop(other)
	<-ended
}
