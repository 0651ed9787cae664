package diag

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// A tcpAddress is the address of a port that is reached over TCP: a runtime's on a phone,
// behind adb or dotnet-dsrouter. Its parts are not checked.
type tcpAddress struct{ host, port string }

const (
	tcpScheme = "tcp://"
	// anyHost stands for all addresses of this machine, as in IpcTcpSocketEndPoint.cs of
	// dotnet/diagnostics.
	anyHost   = "*"
	localHost = "localhost"
)

// parseTCP parses HOST:PORT or tcp://HOST:PORT, with brackets around an IPv6 address.
// Without tcp://, a string with a slash or a backslash, or without a number behind its last
// colon, is the path of a socket or the name of a pipe.
func parseTCP(address string) (tcpAddress, bool) {
	rest, certain := strings.CutPrefix(address, tcpScheme)
	if !certain && strings.ContainsAny(address, `/\`) {
		return tcpAddress{}, false
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil || !certain && strings.Trim(port, "0123456789") != "" {
		return tcpAddress{}, certain
	}
	return tcpAddress{host, port}, certain || port != ""
}

// check returns why nobody can connect to the address, or listen at it.
func (a tcpAddress) check(connect bool) error {
	if n, err := strconv.ParseUint(a.port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("its port must be a number from 1 to 65535, as in 127.0.0.1:9000")
	}
	_, err := netip.ParseAddr(a.host)
	switch {
	case err == nil, a.host == localHost, a.host == anyHost && !connect, connect && isHostName(a.host):
		return nil
	case connect:
		return fmt.Errorf("its host is not an address or a name: give one, as in 127.0.0.1:9000 or [::1]:9000")
	default:
		return fmt.Errorf("only an address of this machine can be listened at: give it, as in 127.0.0.1:9000 or [::1]:9000")
	}
}

// isHostName reports whether s has the form of a host's name (RFC 1123, section 2.1).
func isHostName(s string) bool {
	const longest, longestLabel = 253, 63
	if len(s) > longest {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > longestLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range label {
			if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
				return false
			}
		}
	}
	return true
}

// exposed reports whether other machines may be able to connect to a listener at the
// address.
func (a tcpAddress) exposed() bool {
	ip, err := netip.ParseAddr(a.host)
	return a.host == anyHost || err == nil && !ip.IsLoopback()
}

// dial connects to the address.
func (a tcpAddress) dial(ctx context.Context) (conn, error) {
	var d net.Dialer
	return connOf(d.DialContext(ctx, "tcp", net.JoinHostPort(a.host, a.port)))
}

// listen accepts connections at the address, of anybody who can reach it.
func (a tcpAddress) listen() (acceptor, error) {
	host := a.host
	if host == anyHost {
		host = ""
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(host, a.port))
	if err != nil {
		return nil, cause(err)
	}
	return netAcceptor{l}, nil
}
