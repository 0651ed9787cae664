package guard

import (
	"net"
	"net/http"
	"strings"
)

// A Guard recognizes foreign requests: for another host, because a page's name may be
// made to resolve to this machine, and from pages of other origins. The zero Guard
// accepts every host.
type Guard struct {
	hosts map[string]bool // names with ports that the server may be called by; empty for all
}

// For returns the guard of a server that listens at an address. If only this machine
// reaches the address, the server goes by the address's own names and localhost. Elsewhere,
// it goes by names that only its user knows.
func For(addr net.Addr) Guard {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil || !isLoopback(host) {
		return Guard{}
	}
	hosts := make(map[string]bool)
	for _, name := range []string{"127.0.0.1", "localhost", "::1", host} {
		hosts[net.JoinHostPort(name, port)] = true
	}
	return Guard{hosts}
}

// Refuses returns the status and the reason to refuse a request with; 0 if the request is
// not foreign.
func (g Guard) Refuses(r *http.Request) (status int, why string) {
	switch {
	case len(g.hosts) > 0 && !g.hosts[strings.ToLower(r.Host)]:
		return http.StatusMisdirectedRequest, "this server is not called by that name"
	case foreign(r):
		return http.StatusForbidden, "pages of other origins have no access"
	}
	return 0, ""
}

// Wrap returns a handler that refuses foreign requests and passes on all others.
func (g Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, why := g.Refuses(r); status != 0 {
			w.Header().Set("Connection", "close")
			http.Error(w, why, status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign reports whether a page of another origin makes the request.
func foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet
	}
	origin := r.Header.Get("Origin")
	return origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// IsLoopback reports whether only this machine reaches an address to listen on.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}
