// Command image writes a container image that holds gctrail and nothing else, as a layout
// of the Open Container Initiative (OCI):
//
//	go run -C deploy/image . -o FOLDER [-certificates FILE] PROGRAM…
//
// The image has a variant for each program: its system, architecture, version and commit
// come from Go's build information. No container engine takes part, and the same programs
// give the same image. Tools such as skopeo copy it to a registry.
package main

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	out := flag.String("o", "", "the folder to write, which must not exist")
	certificates := flag.String("certificates", "", "a file of CA certificates to include, for HTTPS")
	flag.Parse()
	if err := run(*out, *certificates, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(out, certificates string, programs []string) error {
	if out == "" || len(programs) == 0 {
		return errors.New("usage: image -o FOLDER [-certificates FILE] PROGRAM…")
	}
	var variants []mutate.IndexAddendum
	version := ""
	for _, path := range programs {
		p, err := readProgram(path)
		if err != nil {
			return err
		}
		v, err := variant(p, certificates)
		if err != nil {
			return err
		}
		variants = append(variants, v)
		version = p.version
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	l, err := layout.Write(out, empty.Index)
	if err != nil {
		return err
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), variants...)
	return l.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
}

// A program is a binary with its build information.
type program struct {
	path     string
	os, arch string
	version  string // without the v
	revision string
	created  time.Time // of the commit; 1970 if unknown
}

func readProgram(path string) (program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	setting := make(map[string]string)
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	p := program{
		path: path, version: strings.TrimPrefix(info.Main.Version, "v"), created: time.Unix(0, 0).UTC(),
		os: setting["GOOS"], arch: setting["GOARCH"], revision: setting["vcs.revision"],
	}
	if at := setting["vcs.time"]; at != "" {
		if p.created, err = time.Parse(time.RFC3339, at); err != nil {
			return program{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return p, nil
}
