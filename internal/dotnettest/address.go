package dotnettest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// OwnAddress returns a free address of the loopback, of a host that no other test uses, so that
// none takes the port before it is listened at. All of 127.0.0.0/8 is the loopback on Linux.
func OwnAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
