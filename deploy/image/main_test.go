package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// blob reads a part of an image, and checks its size and that its name is its digest.
func blob(t *testing.T, folder string, d descriptor) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "blobs", "sha256", d.Digest[len("sha256:"):]))
	if err != nil {
		t.Fatal(err)
	}
	if got := "sha256:" + sum(content); got != d.Digest || int64(len(content)) != d.Size {
		t.Errorf("%s of %d bytes is called %s of %d", got, len(content), d.Digest, d.Size)
	}
	return content
}

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The image of this test's own program has it and the certificates, and is the same
// each time.
func TestImage(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	certificates := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(certificates, []byte("certificates"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, again := filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), "image")
	for _, out := range []string{folder, again} {
		if err := run(out, certificates, []string{program}); err != nil {
			t.Fatal(err)
		}
	}
	top, err := os.ReadFile(filepath.Join(folder, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(filepath.Join(again, "index.json")); err != nil || !bytes.Equal(top, second) {
		t.Errorf("the second image is another: %v\n%s\n%s", err, top, second)
	}

	variants := decode[index](t, blob(t, folder, decode[index](t, top).Manifests[0]))
	if len(variants.Manifests) != 1 {
		t.Fatalf("%d variants", len(variants.Manifests))
	}
	want := platform{Architecture: runtime.GOARCH, OS: runtime.GOOS}
	if got := *variants.Manifests[0].Platform; got != want {
		t.Errorf("platform %v, want %v", got, want)
	}
	m := decode[manifest](t, blob(t, folder, variants.Manifests[0]))
	c := decode[config](t, blob(t, folder, m.Config))
	if c.platform != want || c.Config.Entrypoint[0] != "/gctrail" || len(c.RootFS.DiffIDs) != 1 || len(m.Layers) != 1 {
		t.Errorf("%+v", c)
	}

	z, err := gzip.NewReader(bytes.NewReader(blob(t, folder, m.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if got := "sha256:" + sum(plain); got != c.RootFS.DiffIDs[0] {
		t.Errorf("the layer is %s, the configuration says %s", got, c.RootFS.DiffIDs[0])
	}
	ours, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Name string
		Mode int64
		Sum  string
	}
	var entries []entry
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s belongs to %d:%d", h.Name, h.Uid, h.Gid)
		}
		entries = append(entries, entry{h.Name, h.Mode, sum(content)})
	}
	empty := sum(nil)
	if diff := cmp.Diff([]entry{
		{"gctrail", 0o755, sum(ours)},
		{"etc/", 0o755, empty},
		{"etc/ssl/", 0o755, empty},
		{"etc/ssl/certs/", 0o755, empty},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, sum([]byte("certificates"))},
	}, entries); diff != "" {
		t.Error(diff)
	}
}

// Files that are no programs, and a folder that is there, are errors.
func TestRefused(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"no program":      run(filepath.Join(t.TempDir(), "image"), "", nil),
		"text":            run(filepath.Join(t.TempDir(), "image"), "", []string{text}),
		"folder exists":   run(t.TempDir(), "", []string{program}),
		"no certificates": run(filepath.Join(t.TempDir(), "image"), text+".no", []string{program}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
