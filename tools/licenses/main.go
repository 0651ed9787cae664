// Licenses collects the licences of everything that is linked into gctrail, from the
// module cache, and writes them as one text, packed:
//
//	go -C tools run ./licenses
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const output = "../internal/assets/THIRD_PARTY_LICENSES.gz"

// page has the licences of the packages from npm that are in the page.
const page = "../internal/assets/page/LICENSES"

// platforms are the platforms that gctrail is built for, because each may link other
// modules.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	log.SetFlags(0)
	text, err := notices()
	if err == nil {
		err = os.WriteFile(output, packed(text), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// packed returns a text as gzip has it, with nothing of when or where it was made.
func packed(text []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}

func notices() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	goroot := strings.TrimSpace(string(root))
	dirs := map[string]folders{"The Go standard library and runtime": {goroot: {goroot: true}}}
	for _, platform := range platforms {
		if err := modules(platform, dirs); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	b.WriteString("gctrail contains the following software of others, under the licences that follow each name.\n")
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.Repeat("=", 80), name)
		if err := dirs[name].write(&b); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	scripts, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "\n%s\nIn the page of report --format html\n\n%s", strings.Repeat("=", 80), scripts)
	return b.Bytes(), nil
}

// folders maps a module's folder to the folders of its linked packages and all between.
// It includes them, because a package of others within a module has a licence of its own.
type folders map[string]map[string]bool

func (f folders) add(module, dir string) {
	if f[module] == nil {
		f[module] = map[string]bool{}
	}
	for ; strings.HasPrefix(dir, module); dir = filepath.Dir(dir) {
		f[module][dir] = true
	}
}

// modules adds the folders of the modules that are linked on a platform.
func modules(platform string, dirs map[string]folders) error {
	system, arch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", "github.com/gctrail/gctrail/cmd/gctrail")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if m := p.Module; m != nil && !m.Main {
			name := m.Path + " " + m.Version
			if dirs[name] == nil {
				dirs[name] = folders{}
			}
			dirs[name].add(m.Dir, p.Dir)
		}
	}
}

var isLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// write writes the licence files of a module.
func (f folders) write(b *bytes.Buffer) error {
	for module, dirs := range f {
		for _, dir := range slices.Sorted(maps.Keys(dirs)) {
			found, err := licences(b, module, dir)
			if err != nil {
				return err
			}
			if dir == module && !found {
				return errors.New("there is no licence file")
			}
		}
	}
	return nil
}

// licences writes the licence files in a folder of a module, and reports whether there are any.
func licences(b *bytes.Buffer, module, dir string) (found bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.IsDir() || !isLicence.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		name, err := filepath.Rel(module, path)
		if err != nil {
			return false, err
		}
		found = true
		fmt.Fprintf(b, "\n-- %s --\n\n", filepath.ToSlash(name))
		for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))) {
			b.WriteString(strings.TrimRight(line, " \t\n") + "\n")
		}
	}
	return found, nil
}
