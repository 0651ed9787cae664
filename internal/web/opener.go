package web

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

// An Opener is the page that opens traces in a browser, from the zip of a release. It has nothing
// secret, and asks for its files without a token.
type Opener struct{ files map[string][]byte }

const (
	openerPath = "/open/"
	maxOpener  = 32 << 20 // of each of its files
)

// openerFiles are the files that a page from a server asks for. The service worker is not among
// them, and the page is asked not to look for it, because the address of gctrail serve changes.
var openerFiles = []string{"index.html", "gctrail.wasm.gz", "manifest.webmanifest", "icon.svg", "LICENSES"}

// ReadOpener reads the page from a zip, or from the folder that the zip has.
func ReadOpener(name string) (*Opener, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return newOpener(os.DirFS(name))
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }()
	dir, err := fs.Sub(z, "gctrail")
	if err != nil {
		return nil, err
	}
	return newOpener(dir)
}

func newOpener(dir fs.FS) (*Opener, error) {
	o := &Opener{files: make(map[string][]byte)}
	for _, name := range openerFiles {
		f, err := dir.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("it has no %s: give gctrail_VERSION_web.zip of a release", name)
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(f, maxOpener+1))
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if len(data) > maxOpener {
			return nil, fmt.Errorf("%s has more than %d MiB", name, maxOpener>>20)
		}
		o.files[name] = data
	}
	const root = `<html lang="en"`
	o.files["index.html"] = bytes.Replace(o.files["index.html"], []byte(root), []byte(root+` data-offline="no"`), 1)
	return o, nil
}

// has reports whether the page answers a request. Its own policy is in it, and allows nothing but
// its own files.
func (o *Opener) has(r *http.Request) bool {
	return o != nil && r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, openerPath)
}

func (o *Opener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, openerPath)
	if name == "" {
		name = "index.html"
	}
	data, ok := o.files[name]
	if !ok {
		refuse(w, http.StatusNotFound, "no such path")
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	h.Set("Content-Type", openerTypes[path.Ext(name)])
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

var openerTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".gz": "application/gzip", ".svg": "image/svg+xml",
	".webmanifest": "application/manifest+json", "": "text/plain; charset=utf-8",
}
