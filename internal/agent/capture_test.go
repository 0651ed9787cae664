package agent

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestQuota checks that the oldest captures make room, and that nothing else does.
func TestQuota(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, size int, age time.Duration) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("new.nettrace", 40, 0)
	write("old.nettrace", 40, time.Hour)
	write("older.nettrace", 40, 2*time.Hour)
	write("notes.txt", 4000, 3*time.Hour)
	write(".half.nettrace.0123456789ab.gctrail-part", 4000, 3*time.Hour)
	c := newCaptures(Captures{Folder: folder, Quota: 100})
	c.makeRoom("new.nettrace")
	if all := c.list(); len(all) != 2 || all[0].Name() != "new.nettrace" || all[1].Name() != "old.nettrace" {
		t.Errorf("left: %v", all)
	}
	if _, err := os.Stat(filepath.Join(folder, "notes.txt")); err != nil {
		t.Error(err)
	}
	if err := c.prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, ".half.nettrace.0123456789ab.gctrail-part")); err == nil {
		t.Error("what was left unfinished is still there")
	}
}

// TestToken checks that the paths for captures need the token, and that there are none
// without one.
func TestToken(t *testing.T) {
	const token = "0123456789abcdef"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := newAgent(t, nil).handler()
	guarded := newAgent(t, func(c *Config) { c.TokenFile, c.Captures.Folder = file, t.TempDir() }).handler()
	for _, tt := range []struct {
		handler            http.Handler
		method, path, auth string
		code               int
	}{
		{open, "POST", "/api/v1/captures?pid=1", "Bearer " + token, 404},
		{open, "GET", "/api/v1/captures", "", 404},
		{guarded, "POST", "/api/v1/captures?pid=1", "", 401},
		{guarded, "POST", "/api/v1/captures?pid=1", "Bearer 0123456789abcdee", 401},
		{guarded, "POST", "/api/v1/captures?pid=1", token, 401},
		{guarded, "GET", "/api/v1/captures", "Bearer ", 401},
		{guarded, "GET", "/api/v1/captures", "Bearer " + token, 200},
		{guarded, "GET", "/api/v1/captures/..%2f..%2fetc%2fpasswd", "Bearer " + token, 404},
		{guarded, "POST", "/api/v1/captures?pid=1", "Bearer " + token, 404},
		{guarded, "POST", "/api/v1/captures?pid=x", "Bearer " + token, 400},
		{guarded, "POST", "/api/v1/captures?pid=1&duration=1h", "Bearer " + token, 400},
		{guarded, "POST", "/api/v1/captures?pid=1&profile=nothing", "Bearer " + token, 400},
	} {
		r := httptest.NewRequest(tt.method, tt.path, nil)
		if tt.auth != "" {
			r.Header.Set("Authorization", tt.auth)
		}
		w := httptest.NewRecorder()
		tt.handler.ServeHTTP(w, r)
		if w.Code != tt.code {
			t.Errorf("%s %s with %q: %d, want %d: %s", tt.method, tt.path, tt.auth, w.Code, tt.code, w.Body)
		}
	}
}

// TestRules checks which collections trigger captures, and how often.
func TestRules(t *testing.T) {
	a := newAgent(t, func(c *Config) {
		c.Captures.Folder = t.TempDir()
		c.Rules = []Rule{{Name: "long", When: "pause>100ms", Names: []string{"web*"}, Every: time.Minute}, {Name: "gen2", When: "gen=2", Duration: time.Second}, {Name: "heap", When: "number=9", Dump: true}}
	})
	attach(a, 1, program(1, "web"))
	attach(a, 2, program(2, "api"))
	now := time.Now()
	asked := func(id int, number uint32, generation int, pause time.Duration, at time.Time) string {
		var names []string
		for _, r := range a.met(a.processes[id], collectionOf(number, generation, pause), at) {
			if r.dump != (r.rule == "heap") {
				t.Errorf("%s: snapshot %v", r.rule, r.dump)
			}
			names = append(names, r.rule)
		}
		return strings.Join(names, " ")
	}
	for _, tt := range []struct{ got, want string }{
		{asked(1, 1, 0, 50*time.Millisecond, now), ""},
		{asked(1, 2, 0, 200*time.Millisecond, now), "long"},
		{asked(2, 2, 0, 200*time.Millisecond, now), ""},
		{asked(1, 3, 2, 200*time.Millisecond, now.Add(time.Second)), "gen2"},
		{asked(1, 4, 0, 200*time.Millisecond, now.Add(2*time.Minute)), "long"},
		{asked(2, 4, 2, time.Millisecond, now.Add(2*time.Minute)), "gen2"},
		{asked(1, 9, 0, 0, now), "heap"},
		{asked(1, 9, 0, 0, now.Add(59*time.Minute)), ""},
		{asked(2, 9, 0, 0, now.Add(59*time.Minute)), "heap"},
		{asked(1, 9, 0, 0, now.Add(time.Hour)), "heap"},
	} {
		if tt.got != tt.want {
			t.Errorf("asked for %q, want %q", tt.got, tt.want)
		}
	}
}

func TestBadRules(t *testing.T) {
	for _, r := range []Rule{
		{When: "gen=2", Dump: true, Profile: "gc-alloc"},
		{When: "gen=2", Dump: true, Duration: time.Second},
		{When: ""},
		{When: "pauses>3"},
		{When: "gen=2", Profile: "everything"},
		{When: "gen=2", Duration: time.Hour},
		{When: "gen=2", Names: []string{"[a"}},
	} {
		c := DefaultConfig()
		c.Captures.Folder, c.Rules = "captures", []Rule{r}
		if c.Check() == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
}

// TestDumpBound: a heap snapshot that is too large is cut off, with what fitted.
func TestDumpBound(t *testing.T) {
	var out bytes.Buffer
	w := &boundedWriter{&out, 5}
	for _, tt := range []struct {
		text string
		want error
	}{{"abc", nil}, {"def", errTooLarge}, {"de", nil}, {"f", errTooLarge}} {
		if _, err := w.Write([]byte(tt.text)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
	if out.String() != "abcde" || w.room != 0 {
		t.Errorf("%q, room for %d more", out.String(), w.room)
	}
}

// TestOneDump: one snapshot is taken at a time.
func TestOneDump(t *testing.T) {
	a := newAgent(t, func(c *Config) { c.Captures.Folder = t.TempDir() })
	attach(a, 1, program(1, "web"))
	a.captures.dumping.Lock()
	if _, err := a.keep(t.Context(), &captureRequest{process: a.processes[1], dump: true}); !errors.Is(err, errDumping) {
		t.Error(err)
	}
	want(t, scrape(t, a), `gctrail_agent_dumps_total{outcome="failed"}`, "1")
}

// TestPostponedDump: a condition that is met while another process is dumped holds again
// at the next collection, and counts as no failure.
func TestPostponedDump(t *testing.T) {
	a := newAgent(t, func(c *Config) {
		c.Captures.Folder = t.TempDir()
		c.Rules = []Rule{{Name: "gen1", When: "gen=1", Duration: time.Second}, {Name: "heap", When: "number=9", Dump: true}}
	})
	attach(a, 1, program(1, "web"))
	a.captures.dumping.Lock()
	now := time.Now()
	for range 2 {
		wanted := a.met(a.processes[1], collectionOf(9, 0, 0), now)
		if len(wanted) != 1 {
			t.Fatalf("%d are wanted", len(wanted))
		}
		if _, err := a.keep(t.Context(), wanted[0]); !errors.Is(err, errDumping) {
			t.Error(err)
		}
	}
	want(t, scrape(t, a), `gctrail_agent_dumps_total{outcome="failed"}`, "")
}
