package web

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openerZip writes a zip as a release has it, but for a file, and returns its path.
func openerZip(t *testing.T, without string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range append([]string{"offline.js", "gctrail.html"}, openerFiles...) {
		if name == without {
			continue
		}
		w, err := z.Create("gctrail/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(map[string]string{"index.html": `<html lang="en">`}[name] + "content of " + name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "web.zip")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpener: the page that opens traces is there without a token, and nothing else is.
func TestOpener(t *testing.T) {
	o, err := ReadOpener(openerZip(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	addr := serve(t, Options{Files: []string{fixture}, Opener: o})
	for path, want := range map[string]string{
		"/open/": `200 <html lang="en" data-offline="no">content of index.html`, "/open/gctrail.wasm.gz?0123": "200 content of gctrail.wasm.gz",
		"/open/offline.js": "404 no such path", "/open/../list": "404", "/list": "401", "/file/0/columns": "401", "/open": "401",
	} {
		r, body := get(t, "http://"+addr+path)
		if got := r.Status[:3] + " " + string(body); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.80s, want %s", path, got, want)
		}
	}
	r, _ := get(t, "http://"+addr+"/open/")
	for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff"} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, body := get(t, "http://"+addr+"/list?t="+token); !bytes.Contains(body, []byte(`"opener":true`)) {
		t.Errorf("%s", body)
	}
	if r, _ := get(t, "http://"+serve(t, Options{Files: []string{fixture}})+"/open/"); r.StatusCode != 404 {
		t.Errorf("without the page: %s", r.Status)
	}
}

// TestReadOpener: another file than the page is refused with its reason.
func TestReadOpener(t *testing.T) {
	for path, want := range map[string]string{
		openerZip(t, "gctrail.wasm.gz"): "it has no gctrail.wasm.gz: give gctrail_VERSION_web.zip",
		fixture:                         "not a valid zip", t.TempDir(): "it has no index.html", "none.zip": "none.zip",
	} {
		if _, err := ReadOpener(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
