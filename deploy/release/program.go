package main

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A target is a system and a processor, as Go and the registries name them.
type target struct {
	os, arch string
	npm      string // process.platform and process.arch of Node.js
	rid      string // .NET's runtime identifier
}

var targets = []target{
	{"linux", "amd64", "linux-x64", "linux-x64"},
	{"linux", "arm64", "linux-arm64", "linux-arm64"},
	{"darwin", "amd64", "darwin-x64", "osx-x64"},
	{"darwin", "arm64", "darwin-arm64", "osx-arm64"},
	{"windows", "amd64", "win32-x64", "win-x64"},
	{"windows", "arm64", "win32-arm64", "win-arm64"},
}

// A program is a binary with its build information.
type program struct {
	target
	path     string
	version  string // without the v
	revision string
	created  time.Time // of the commit; 1980 if unknown
}

// file returns the name of the program's file.
func (p program) file() string {
	if p.os == "windows" {
		return "gctrail.exe"
	}
	return "gctrail"
}

// earliest is the earliest time that zip files have.
var earliest = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// readPrograms returns the programs in the order of targets. All are of one version.
func readPrograms(paths []string, version string) ([]program, error) {
	var programs []program
	for _, path := range paths {
		p, err := readProgram(path)
		if err != nil {
			return nil, err
		}
		p.version = cmp.Or(p.version, version)
		if p.version == "" {
			return nil, fmt.Errorf("%s: Go noted no version in it", path)
		}
		for _, other := range programs {
			if other.target == p.target {
				return nil, fmt.Errorf("%s and %s are both for %s on %s", other.path, path, p.os, p.arch)
			}
			if other.version != p.version {
				return nil, fmt.Errorf("%s is %s, %s is %s", other.path, other.version, path, p.version)
			}
		}
		programs = append(programs, p)
	}
	slices.SortFunc(programs, func(a, b program) int {
		return cmp.Compare(slices.Index(targets, a.target), slices.Index(targets, b.target))
	})
	return programs, nil
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
	i := slices.IndexFunc(targets, func(t target) bool { return t.os == setting["GOOS"] && t.arch == setting["GOARCH"] })
	if i < 0 {
		return program{}, fmt.Errorf("%s: no package is for %s on %s", path, setting["GOOS"], setting["GOARCH"])
	}
	p := program{target: targets[i], path: path, revision: setting["vcs.revision"], created: earliest}
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
		p.version = v
	}
	if at := setting["vcs.time"]; at != "" {
		if p.created, err = time.Parse(time.RFC3339, at); err != nil {
			return program{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return p, nil
}
