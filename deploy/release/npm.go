package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

//go:embed npm/gctrail.js
var launcher []byte

//go:embed npm/README.md
var npmReadme []byte

// A manifest is the package.json of a package.
type manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	Keywords     []string          `json:"keywords,omitempty"`
	Homepage     string            `json:"homepage"`
	Bugs         string            `json:"bugs"`
	Repository   source            `json:"repository"`
	License      string            `json:"license"`
	Preferred    bool              `json:"preferUnplugged,omitempty"` // Yarn keeps programs unpacked
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	Bin          map[string]string `json:"bin,omitempty"`
	Dependencies map[string]string `json:"optionalDependencies,omitempty"`
}

type source struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// writeNPM writes a package for each program, and the one that people install.
func writeNPM(folder string, programs []program, license []byte) error {
	whole := npmManifest("gctrail", programs[0].version, summary)
	whole.Keywords = []string{"dotnet", "garbage-collection", "gc", "performance", "diagnostics"}
	whole.Engines = map[string]string{"node": ">=18"}
	whole.Bin = map[string]string{"gctrail": "bin/gctrail.js"}
	whole.Dependencies = map[string]string{}
	for _, p := range programs {
		m := npmManifest("@gctrail/"+p.npm, p.version, "The program of the package gctrail for "+p.npm)
		system, processor, _ := strings.Cut(p.npm, "-")
		m.OS, m.CPU, m.Preferred = []string{system}, []string{processor}, true
		whole.Dependencies[m.Name] = p.version
		data, err := os.ReadFile(p.path)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("# %s\n\n%s. Install [gctrail](https://www.npmjs.com/package/gctrail) instead, which depends on it.\n", m.Name, m.Description)
		if err := m.write(folder, p.created, []file{
			{"bin/" + p.file(), data, 0o755}, {"README.md", []byte(text), 0o644}, {"LICENSE", license, 0o644},
		}); err != nil {
			return err
		}
	}
	return whole.write(folder, programs[0].created, []file{
		{"bin/gctrail.js", launcher, 0o755}, {"README.md", npmReadme, 0o644}, {"LICENSE", license, 0o644},
	})
}

func npmManifest(name, version, description string) manifest {
	return manifest{
		Name: name, Version: version, Description: description, License: "MIT",
		Homepage: homepage, Bugs: homepage + "/issues", Repository: source{"git", "git+" + repository},
	}
}

// write writes the package with the given files, under the name that npm pack gives it.
func (m manifest) write(folder string, modified time.Time, files []file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	data, err := tarball(append([]file{{"package.json", append(text, '\n'), 0o644}}, files...), modified)
	if err != nil {
		return err
	}
	base := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-")
	return writePackage(folder, base+"-"+m.Version+".tgz", data)
}

// tarball returns files as npm packs them: in a folder named package.
func tarball(files []file, modified time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := f.header(modified)
		h.Name = "package/" + f.name
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}
