package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gctrail/gctrail/internal/assets"
	"github.com/gctrail/gctrail/internal/outfile"
)

// webpage packs the page that opens traces in a browser, and the extension for VS Code.
func webpage(args []string) error {
	if len(args) < 1 || len(args) > 3 {
		return errors.New("usage: release webpage FOLDER [ZIP [VSIX]]")
	}
	module, err := buildModule()
	if err != nil {
		return err
	}
	p, err := readParts()
	if err != nil {
		return err
	}
	files := p.files(module)
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := outfile.WriteFile(filepath.Join(args[0], f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	if len(args) > 1 {
		if err := writeZip(args[1], "gctrail/", files); err != nil {
			return err
		}
	}
	if len(args) < 3 {
		return nil
	}
	files, err = p.vsix(module)
	if err != nil {
		return err
	}
	return writeZip(args[2], "", files)
}

// buildModule builds the module and compresses it.
func buildModule() ([]byte, error) {
	dir, err := os.MkdirTemp("", "gctrail-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "gctrail.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", path, "./cmd/gctrail-wasm")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	module, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, err = z.Write(module)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	if packed.Len() > maxModule {
		return nil, fmt.Errorf("the module has %d bytes as gzip, more than %d", packed.Len(), maxModule)
	}
	return packed.Bytes(), nil
}

// maxModule bounds the module as gzip, because a page that takes long to load is not used. Brotli,
// which takes minutes, makes 3 MB of as much.
const maxModule = 4_320_000

// pageParts are the parts of the page.
type pageParts struct{ script, style, worker, offline, warm string }

// warm are traces that the page reads while nobody waits: of most kinds of events, and of a heap
// snapshot.
var warm = []string{"net10-killed-web.nettrace.gz", "net10-wks-allocs-snapshot.nettrace.gz"}

func readParts() (*pageParts, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	p, support := &pageParts{}, ""
	for path, to := range map[string]*string{
		"web/dist/open/main.js": &p.script, "web/dist/open/main.css": &p.style,
		"web/dist/open/worker.js": &p.worker, "web/dist/open/offline.js": &p.offline,
		filepath.Join(strings.TrimSpace(string(goroot)), "lib/wasm/wasm_exec.js"): &support,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		*to = string(text)
	}
	p.worker = support + p.worker
	for _, name := range warm {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			return nil, err
		}
		p.warm += fmt.Sprintf("<script type=\"text/plain\" class=\"warm\" title=\"%s\">%s</script>\n", name, base64.StdEncoding.EncodeToString(data))
	}
	return p, p.check()
}

// check returns an error if a part would end the element that it is in.
func (p *pageParts) check() error {
	for _, text := range []string{p.script, p.style, p.worker} {
		if strings.Contains(strings.ToLower(text), "</script") || strings.Contains(strings.ToLower(text), "</style") {
			return errors.New("a part of the page has the end of a script in it")
		}
	}
	return nil
}

// files returns all files. offline.js keeps the ones that a browser asks a server for.
func (p *pageParts) files(module []byte) []file {
	files := []file{
		{name: "index.html", data: []byte(p.served(module))},
		{name: "gctrail.wasm.gz", data: module},
		{name: "manifest.webmanifest", data: []byte(webManifest)},
		{name: "icon.svg", data: []byte(icon)},
	}
	var all []byte
	names := []string{`"./"`}
	for _, f := range files {
		all = append(all, f.data...)
		names = append(names, fmt.Sprintf("%q", f.name))
	}
	offline := fmt.Sprintf("const version = %q, files = [%s];\n%s", versionOf(all), strings.Join(names, ", "), p.offline)
	return append(files,
		file{name: "offline.js", data: []byte(offline)},
		file{name: "gctrail.html", data: []byte(p.single(module))},
		file{name: "LICENSES", data: []byte(assets.Licenses())},
	)
}

// versionOf returns a short name of data.
func versionOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// writeZip writes files to a folder of an archive, without their times, which say nothing.
func writeZip(path, folder string, files []file) error {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		w, err := z.Create(folder + f.name)
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, bytes.NewReader(f.data)); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return outfile.WriteFile(path, out.Bytes(), 0o644)
}
