package web

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/internal/watch"
	"github.com/gctrail/gctrail/live"
)

const (
	token   = "0123456789abcdefghijklmn"
	fixture = "../../testdata/net10-wks-stacks.nettrace.gz"
)

// serve runs a server until the test ends, and returns its address.
func serve(t *testing.T, opts Options) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	opts.Token = token
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- New(opts).Serve(ctx, l, "", "") }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func get(t *testing.T, url string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, body
}

// TestServeHeapDump: a .gcdump file is shown, too, whether it is given by its path or uploaded.
func TestServeHeapDump(t *testing.T) {
	const path = "../../testdata/net8-wks-rich.gcdump.gz"
	addr := serve(t, Options{Files: []string{path}})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for id, sent := range [][]byte{data, tracetest.Gunzip(t, path)} {
		r, err := http.Post("http://"+addr+"/upload?name=net8-wks-rich.gcdump.gz&t="+token, "application/octet-stream", bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(r.Body)
		r.Body.Close()
		if want := fmt.Sprintf(`{"id":%d}`, id+1); err != nil || r.StatusCode != 200 || strings.TrimSpace(string(answer)) != want {
			t.Fatalf("%d %s, %v; want %s", r.StatusCode, answer, err, want)
		}
	}
	for id := range 3 {
		r, body := get(t, fmt.Sprintf("http://%s/file/%d/objects?t=%s", addr, id, token))
		objects, err := io.ReadAll(flate.NewReader(bytes.NewReader(body)))
		if r.StatusCode != 200 || err != nil || !bytes.Contains(objects, []byte(`"label":"net8-wks-rich.gcdump.gz"`)) || !bytes.Contains(objects, []byte(`"objects":15833`)) {
			t.Errorf("file %d: %d %v %.200s", id, r.StatusCode, err, objects)
		}
	}
}

func TestPage(t *testing.T) {
	addr := serve(t, Options{Files: []string{fixture}})
	r, body := get(t, "http://"+addr+"/?t="+token)
	if r.StatusCode != 200 || !bytes.Contains(body, []byte(`<div id="app">`)) {
		t.Errorf("%d %.200s", r.StatusCode, body)
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Access-Control-Allow-Origin": ""} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy: %s", policy)
	}
	for _, part := range []string{"columns", "details", "allocations", "quoted"} {
		if r, body := get(t, "http://"+addr+"/file/0/"+part+"?t="+token); r.StatusCode != 200 || len(body) < 1000 && part != "quoted" || len(body) == 0 {
			t.Errorf("%s: %d, %d bytes", part, r.StatusCode, len(body))
		}
	}
	if _, body := get(t, "http://"+addr+"/list?t="+token); !bytes.Contains(body, []byte(`"name":"net10-wks-stacks.nettrace.gz"`)) {
		t.Errorf("%s", body)
	}
}

func TestUpload(t *testing.T) {
	addr := serve(t, Options{})
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post("http://"+addr+"/upload?name=x.nettrace&t="+token, "application/octet-stream", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct{ ID int }
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || r.StatusCode != 200 {
		t.Fatal(r.StatusCode, err)
	}
	if r, body := get(t, fmt.Sprintf("http://%s/file/%d/columns?t=%s", addr, answer.ID, token)); r.StatusCode != 200 || len(body) < 1000 {
		t.Errorf("%d, %d bytes", r.StatusCode, len(body))
	}
}

// TestHostile: requests that no page of this server makes are refused, and the server
// continues.
func TestHostile(t *testing.T) {
	addr := serve(t, Options{Files: []string{fixture}})
	_, port, _ := net.SplitHostPort(addr)
	request := func(line, host string, headers ...string) string {
		return line + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	}
	t1 := "?t=" + token
	for name, c := range map[string]struct {
		send string
		want int // 0: the connection is closed
	}{
		"rebinding":               {request("GET /"+t1, "evil.example:"+port), 421},
		"rebinding, no port":      {request("GET /"+t1, "localhost"), 421},
		"another port":            {request("GET /"+t1, "127.0.0.1:1"), 421},
		"no host":                 {"GET /" + t1 + " HTTP/1.1\r\n\r\n", 400},
		"no token":                {request("GET /list", addr), 401},
		"empty token":             {request("GET /list?t=", addr), 401},
		"wrong token":             {request("GET /list?t="+strings.Repeat("x", len(token)), addr), 401},
		"prefix of the token":     {request("GET /list?t="+token[:20], addr), 401},
		"two tokens":              {request("GET /list?t=x&t="+token, addr), 401},
		"token as a header":       {request("GET /list", addr, "Authorization: Bearer "+token), 401},
		"traversal":               {request("GET /file/../../../etc/passwd"+t1, addr), 404},
		"encoded traversal":       {request("GET /file/0/%2e%2e%2f%2e%2e%2fetc%2fpasswd"+t1, addr), 404},
		"path of a file":          {request("GET /file//etc/passwd"+t1, addr), 404},
		"negative id":             {request("GET /file/-1/columns"+t1, addr), 404},
		"huge id":                 {request("GET /file/99999999999999999999/columns"+t1, addr), 404},
		"unknown process":         {request("GET /process/1/live"+t1, addr), 404},
		"DELETE":                  {request("DELETE /"+t1, addr), 405},
		"PUT":                     {request("PUT /upload"+t1, addr, "Content-Length: 0"), 405},
		"TRACE":                   {request("TRACE /"+t1, addr), 405},
		"OPTIONS of another site": {request("OPTIONS /list"+t1, addr, "Origin: http://evil.example"), 403},
		"POST of another origin":  {request("POST /upload"+t1, addr, "Origin: http://evil.example", "Content-Length: 0"), 403},
		"script of another site":  {request("GET /list"+t1, addr, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"), 403},
		"GET with a body":         {request("GET /list"+t1, addr, "Content-Length: 5") + "12345", 400},
		"dump of another origin":  {request("POST /process/1/dump"+t1, addr, "Origin: http://evil.example", "Content-Length: 0"), 403},
		"dump without token":      {request("POST /process/1/dump", addr, "Content-Length: 0"), 401},
		"huge upload":             {request("POST /upload"+t1, addr, "Content-Length: 99999999999"), 413},
		"upload of no trace":      {request("POST /upload"+t1, addr, "Content-Length: 5") + "hello", 422},
		"negative length":         {request("POST /upload"+t1, addr, "Content-Length: -1"), 400},
		"long address":            {request("GET /list"+t1+"&x="+strings.Repeat("a", 4000), addr), 414},
		"long header":             {request("GET /list"+t1, addr, "X: "+strings.Repeat("a", 64<<10)), 431},
		"no HTTP":                 {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		"smuggled second length":  {request("POST /upload"+t1, addr, "Content-Length: 5", "Content-Length: 6"), 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() { _, _ = io.WriteString(conn, c.send) }()
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			body, _ := io.ReadAll(r.Body)
			if r.StatusCode != c.want || bytes.Contains(body, []byte("root:")) || bytes.Contains(body, []byte(token)) {
				t.Errorf("%d, want %d: %.100s", r.StatusCode, c.want, body)
			}
			if r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("other origins may read the answer")
			}
		})
	}
}

// TestSlow checks that a client that sends its request a byte at a time is dropped.
func TestSlow(t *testing.T) {
	extent.Long(t, "waits for the end of the time that a client has")
	addr := serve(t, Options{})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	dropped := make(chan struct{})
	go func() {
		defer close(dropped)
		_, _ = io.Copy(io.Discard, conn)
	}()
	for _, b := range []byte("GET / HTTP/1.1\r\nHost: " + strings.Repeat("a", 1000)) {
		select {
		case <-dropped:
			return
		case <-time.After(50 * time.Millisecond):
			_, _ = conn.Write([]byte{b})
		}
	}
	t.Error("the connection was kept")
}

// TestLive: every page that follows a process is sent every collection, in order,
// whenever it begins.
func TestLive(t *testing.T) {
	const collections, pages = 3000, 4
	begin := make(chan struct{})
	process := &diag.Process{PID: 4711, Name: "web", Info: &diag.Info{PID: 4711}}
	addr := serve(t, Options{Watch: true, Watcher: watch.Options{Source: watch.Source{
		List: func(context.Context) []*diag.Process { return []*diag.Process{process} },
		Follow: func(ctx context.Context, _ *diag.Process, _ live.Options) iter.Seq2[*live.Update, error] {
			return func(yield func(*live.Update, error) bool) {
				of := &gc.Process{PID: 4711, Name: "web"}
				yield(&live.Update{Kind: live.Attached, Process: process}, nil)
				for i := range collections {
					if i == 1 {
						<-begin
					}
					c := &gc.Collection{Process: of, Number: uint32(i + 1), Start: gc.Some(time.Duration(i) * time.Millisecond)}
					if !yield(&live.Update{Kind: live.Collected, Process: process, Collection: c, Start: time.Now()}, nil) {
						return
					}
				}
				<-ctx.Done()
			}
		},
	}}})
	dotnettest.Until(t.Context(), t, "the first collection is listed", func() bool {
		_, body := get(t, "http://"+addr+"/list?t="+token)
		return bytes.Contains(body, []byte(`"collections":1`))
	})
	failed := make(chan error, pages)
	for range pages {
		go func() { failed <- follow(t.Context(), addr, collections) }()
	}
	close(begin)
	for range pages {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if r, body := get(t, fmt.Sprintf("http://%s/process/1/gc/%d?t=%s", addr, collections, token)); r.StatusCode != 200 || !bytes.HasPrefix(body, []byte("[null,")) {
		t.Errorf("%d %.200s", r.StatusCode, body)
	}
}

// A fakeDumper takes snapshots that are copies of a trace, or fail, when end says so.
type fakeDumper struct {
	began chan struct{}
	end   chan error
}

func (*fakeDumper) Cost(p *diag.Process) string { return "pauses " + p.Name }

func (d *fakeDumper) Take(context.Context, *diag.Process) (path, about string, err error) {
	d.began <- struct{}{}
	return fixture, "GC 7: 1 object", <-d.end
}

// TestDump: a page that asks for a heap snapshot is given its trace. One is taken at a time,
// and not of processes that are not watched.
func TestDump(t *testing.T) {
	dumper := &fakeDumper{make(chan struct{}), make(chan error)}
	process := &diag.Process{PID: 4711, Name: "web", Info: &diag.Info{PID: 4711}}
	addr := serve(t, Options{Watch: true, Dumper: dumper, Watcher: watch.Options{Source: watch.Source{
		List: func(context.Context) []*diag.Process { return []*diag.Process{process} },
		Follow: func(ctx context.Context, _ *diag.Process, _ live.Options) iter.Seq2[*live.Update, error] {
			return func(yield func(*live.Update, error) bool) {
				yield(&live.Update{Kind: live.Attached, Process: process}, nil)
				<-ctx.Done()
			}
		},
	}}})
	address := func(id int) string { return fmt.Sprintf("http://%s/process/%d/dump?t=%s", addr, id, token) }
	type result struct {
		status int
		body   string
	}
	post := func(id int) result {
		r, err := http.Post(address(id), "", nil)
		if err != nil {
			t.Error(err)
			return result{}
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		return result{r.StatusCode, string(body)}
	}
	dotnettest.Until(t.Context(), t, "the process is known", func() bool {
		r, body := get(t, address(1))
		known := r.StatusCode == 200
		if known && string(body) != "{\"cost\":\"pauses web\"}\n" {
			t.Errorf("%s", body)
		}
		return known
	})
	if got := post(2); got.status != 404 {
		t.Errorf("of no process: %+v", got)
	}
	taken := func(err error) result {
		done := make(chan result)
		go func() { done <- post(1) }()
		<-dumper.began
		if got := post(1); got.status != 503 {
			t.Errorf("a second at the same time: %+v", got)
		}
		dumper.end <- err
		return <-done
	}
	if got := taken(errors.New("it has ended")); got.status != 422 || got.body != "it has ended\n" {
		t.Errorf("of a process that has ended: %+v", got)
	}
	want := result{200, `{"about":"GC 7: 1 object","id":0,"path":"` + fixture + "\"}\n"}
	if got := taken(nil); got != want {
		t.Errorf("%+v", got)
	}
	if r, body := get(t, "http://"+addr+"/file/0/columns?t="+token); r.StatusCode != 200 || len(body) < 1000 {
		t.Errorf("%d, %d bytes", r.StatusCode, len(body))
	}
	for range maxDumps - 2 {
		taken(nil)
	}
	if got := post(1); got.status != 507 {
		t.Errorf("one too many: %+v", got)
	}
}

// follow reads the collections of process 1 and checks that they are all there.
func follow(ctx context.Context, addr string, collections int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/process/1/live?from=0&t="+token, nil)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 10<<20)
	seen, kind := 0, ""
	for lines.Scan() {
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			kind = event
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || kind != "rows" {
			continue
		}
		var rows [][]*int64
		if err := json.Unmarshal([]byte(data), &rows); err != nil {
			return err
		}
		for _, row := range rows {
			if seen++; *row[0] != int64(seen) {
				return fmt.Errorf("collection %d came, want %d", *row[0], seen)
			}
		}
		if seen == collections {
			return nil
		}
	}
	return fmt.Errorf("%d collections, want %d: %w", seen, collections, lines.Err())
}

// TestListOfFiles: the list describes each file once it is read, and gives the reason if it
// cannot be read.
func TestListOfFiles(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(notes, []byte("no trace"), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := serve(t, Options{Files: []string{fixture, "../../testdata/net8-wks-rich.gcdump.gz", notes}})
	type source struct {
		Name, Process, Verdict, Problem string
		Bytes                           int64
		Start                           *time.Time
		Duration                        float64 `json:"duration_ms"`
	}
	var all struct{ Sources []source }
	for done := false; !done; {
		_, body := get(t, "http://"+addr+"/list?t="+token)
		if err := json.Unmarshal(body, &all); err != nil {
			t.Fatal(err)
		}
		done = !slices.ContainsFunc(all.Sources, func(l source) bool { return l.Verdict == "" && l.Problem == "" })
	}
	for i, want := range []struct {
		process, verdict string
		lasts            bool
	}{{"gcload", "Pauses took", true}, {"", "Heap snapshot: 15,833 objects", false}, {"", "", false}} {
		l := all.Sources[i]
		if l.Process != want.process || !strings.HasPrefix(l.Verdict, want.verdict) || (l.Duration > 0) != want.lasts || (l.Start != nil) != want.lasts || l.Bytes == 0 {
			t.Errorf("%+v", l)
		}
	}
	if !strings.Contains(all.Sources[2].Problem, "notes.txt") {
		t.Errorf("notes: %+v", all.Sources[2])
	}
}
