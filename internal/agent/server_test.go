package agent

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestForeignRequests checks that the metrics of an agent on this machine are served
// neither to web pages, nor under the name of another host.
func TestForeignRequests(t *testing.T) {
	a := newAgent(t, func(c *Config) { c.Listen = "127.0.0.1:0" })
	l, err := a.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go a.serve(t.Context(), l)
	for _, tt := range []struct {
		host, origin string
		want         int
	}{
		{"", "", http.StatusOK},
		{"attacker.example", "", http.StatusMisdirectedRequest},
		{"", "http://attacker.example", http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("host %q, origin %q: status %d, want %d", tt.host, tt.origin, resp.StatusCode, tt.want)
		}
	}
}

// TestTokenOfOthers checks that the agent refuses a token that other users can read.
func TestTokenOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has lists of access in place of modes")
	}
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.TokenFile = path
	if token, err := c.token(); err != nil || len(token) != 16 {
		t.Errorf("%q, %v", token, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Config: c}); err == nil {
		t.Error("no error")
	}
}
