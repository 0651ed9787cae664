package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

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

	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	named, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	variants, err := index.ImageIndex(named.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	m, err := variants.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Manifests) != 1 {
		t.Fatalf("%d variants", len(m.Manifests))
	}
	want := &v1.Platform{Architecture: runtime.GOARCH, OS: runtime.GOOS}
	if got := m.Manifests[0].Platform; !got.Equals(*want) {
		t.Errorf("platform %v, want %v", got, want)
	}
	image, err := variants.Image(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	c, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	if !c.Platform().Equals(*want) || c.Config.Entrypoint[0] != "/gctrail" || len(layers) != 1 {
		t.Errorf("%+v", c)
	}
	plain, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
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
	for r := tar.NewReader(plain); ; {
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
	if diff := cmp.Diff([]entry{
		{"gctrail", 0o755, sum(ours)},
		{"etc/", 0o755, sum(nil)},
		{"etc/ssl/", 0o755, sum(nil)},
		{"etc/ssl/certs/", 0o755, sum(nil)},
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
