// Gen collects the licences of everything that is linked into gctrail, from the
// module cache, and writes them as one text.
package main

import (
	"bytes"
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

const output = "THIRD_PARTY_LICENSES"

// platforms are those that gctrail is built for: each may link other modules.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	log.SetFlags(0)
	text, err := notices()
	if err == nil {
		err = os.WriteFile(output, text, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func notices() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{"The Go standard library and runtime": strings.TrimSpace(string(root))}
	for _, platform := range platforms {
		if err := modules(platform, dirs); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	b.WriteString("gctrail contains the following software of others, under the licences that follow each name.\n")
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.Repeat("=", 80), name)
		if err := licences(&b, dirs[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return b.Bytes(), nil
}

// modules adds the folders of the modules that are linked on a platform.
func modules(platform string, dirs map[string]string) error {
	system, arch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "github.com/gctrail/gctrail/cmd/gctrail")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
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
			dirs[m.Path+" "+m.Version] = m.Dir
		}
	}
}

var isLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// licences writes the licence files of a module.
func licences(b *bytes.Buffer, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !isLicence.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(b, "\n-- %s --\n\n", e.Name())
		for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))) {
			b.WriteString(strings.TrimRight(line, " \t\n") + "\n")
		}
	}
	if !found {
		return errors.New("there is no licence file")
	}
	return nil
}
