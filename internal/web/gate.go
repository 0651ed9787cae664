package web

import (
	"crypto/subtle"
	"net/http"
	"path"
	"time"

	"github.com/gctrail/gctrail/internal/guard"
	"github.com/gctrail/gctrail/internal/html"
)

// The bounds of a client's requests.
const (
	maxHeader   = 16 << 10
	maxTarget   = 2048 // bytes of a request's target
	maxRequests = 64   // under way
	maxUpload   = 256 << 20
	readHeader  = 5 * time.Second
	readUpload  = 5 * time.Minute
	writeWithin = 30 * time.Second
	idle        = 60 * time.Second
)

// A gate answers valid requests, and refuses all others: for another host, because a
// page's name may be made to point here; without the token; from pages of other origins;
// and too many at once.
type gate struct {
	token string
	open  *Opener // nil for none
	own   guard.Guard
	busy  chan struct{}
	next  http.Handler
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", html.ShellPolicy()+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	status, why := g.own.Refuses(r)
	switch {
	case status != 0:
		refuse(w, status, why)
	case len(r.RequestURI) > maxTarget:
		refuse(w, http.StatusRequestURITooLong, "the address is too long")
	case g.open.has(r):
		g.limited(w, r, g.open)
	case path.Clean(r.URL.Path) != r.URL.Path:
		refuse(w, http.StatusNotFound, "no such path")
	case r.Method != http.MethodPost && r.ContentLength != 0:
		refuse(w, http.StatusBadRequest, "a request of this method has no body")
	case !g.hasToken(r):
		refuse(w, http.StatusUnauthorized, "the address lacks the token that gctrail serve printed")
	default:
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readUpload)) // the answer may take long
		g.limited(w, r, g.next)
	}
}

// limited hands a request on, unless too many are under way.
func (g *gate) limited(w http.ResponseWriter, r *http.Request, to http.Handler) {
	select {
	case g.busy <- struct{}{}:
		defer func() { <-g.busy }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many requests are under way")
		return
	}
	to.ServeHTTP(w, r)
}

// hasToken compares in constant time, so that the time does not reveal how much of the
// token is right.
func (g *gate) hasToken(r *http.Request) bool {
	given := r.URL.Query()["t"]
	return len(given) == 1 && subtle.ConstantTimeCompare([]byte(given[0]), []byte(g.token)) == 1
}

func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Connection", "close")
	http.Error(w, why, code)
}
