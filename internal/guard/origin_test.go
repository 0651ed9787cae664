package guard

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9464}
	everywhere := &net.TCPAddr{IP: net.IPv4zero, Port: 9464}
	for _, tt := range []struct {
		name   string
		addr   net.Addr
		host   string
		header []string
		want   int
	}{
		{"address", local, "127.0.0.1:9464", nil, 200},
		{"localhost", local, "LocalHost:9464", nil, 200},
		{"IPv6", local, "[::1]:9464", nil, 200},
		{"name made to resolve here", local, "attacker.example:9464", nil, 421},
		{"another port", local, "127.0.0.1:80", nil, 421},
		{"no host", local, "", nil, 421},
		{"name in a cluster", everywhere, "gctrail.observability.svc:9464", nil, 200},
		{"address of a pod", everywhere, "10.1.2.3:9464", nil, 200},
		{"other origin", local, "127.0.0.1:9464", []string{"Origin", "https://attacker.example"}, 403},
		{"other origin in a cluster", everywhere, "10.1.2.3:9464", []string{"Origin", "http://attacker.example"}, 403},
		{"no origin", local, "127.0.0.1:9464", []string{"Origin", "null"}, 403},
		{"own origin", local, "127.0.0.1:9464", []string{"Origin", "http://127.0.0.1:9464"}, 200},
		{"fetch of another site", local, "127.0.0.1:9464", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"link on another site", local, "127.0.0.1:9464", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"typed address", local, "127.0.0.1:9464", []string{"Sec-Fetch-Site", "none"}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := httptest.NewRequest(http.MethodGet, "/metrics", nil), httptest.NewRecorder()
			r.Host = tt.host
			for i := 0; i < len(tt.header); i += 2 {
				r.Header.Set(tt.header[i], tt.header[i+1])
			}
			For(tt.addr).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("status %d, want %d", w.Code, tt.want)
			}
		})
	}
}
