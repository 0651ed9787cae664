package lttng

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// defaultPort is that of a relay daemon for viewers.
const defaultPort = "5344"

// An Address names a session of a relay daemon: net://DAEMON[:PORT]/host/HOST/SESSION,
// as babeltrace2 takes it.
type Address struct {
	Daemon  string // host and port
	Host    string // that records
	Session string
}

var errAddress = errors.New("must be net://DAEMON[:PORT]/host/HOST/SESSION")

// Parse reads an address.
func Parse(s string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "net" && u.Scheme != "net4" && u.Scheme != "net6" && u.Scheme != "tcp" || u.Hostname() == "" {
		return Address{}, errAddress
	}
	a := Address{Daemon: net.JoinHostPort(u.Hostname(), defaultPort)}
	if u.Port() != "" {
		a.Daemon = net.JoinHostPort(u.Hostname(), u.Port())
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) != 3 || parts[0] != "host" || parts[1] == "" || parts[2] == "" {
		return Address{}, errAddress
	}
	a.Host, a.Session = parts[1], parts[2]
	return a, nil
}

func (a Address) String() string {
	return fmt.Sprintf("net://%s/host/%s/%s", a.Daemon, a.Host, a.Session)
}
