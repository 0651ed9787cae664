package cli

import (
	"net"
	"testing"
)

// TestServeURL: the address that is printed and opened is that of the only trace, or
// of the list.
func TestServeURL(t *testing.T) {
	const list = "http://127.0.0.1:8080/?t=token"
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	for traces, want := range []string{list, list + "#source=file-0", list} {
		if got := new(serveOptions).url(addr, "token", traces); got != want {
			t.Errorf("%d traces: %s, want %s", traces, got, want)
		}
	}
}
