// Command registry writes the packages of a release for npm and NuGet:
//
//	go run ./deploy/registry [-version VERSION] -o FOLDER PROGRAM…
//
// FOLDER/npm and FOLDER/nuget get a package for each program, which is installed only on the
// program's system and processor, and the package gctrail, which names all of them: npm and
// the .NET SDK install the one that fits. No package runs anything when it is installed. The
// system, the processor and the version of a program come from Go's build information;
// VERSION is for programs in which Go noted none. It runs in the root of the repository, and
// the same programs give the same packages.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gctrail/gctrail/internal/outfile"
)

func main() {
	out := flag.String("o", "", "the folder to write to")
	version := flag.String("version", "", "the version of programs in which Go noted none")
	flag.Parse()
	if err := run(*out, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "registry:", err)
		os.Exit(1)
	}
}

func run(out, version string, paths []string) error {
	if out == "" || len(paths) == 0 {
		return errors.New("usage: registry [-version VERSION] -o FOLDER PROGRAM…")
	}
	programs, err := readPrograms(paths, version)
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	if err := writeNPM(filepath.Join(out, "npm"), programs, license); err != nil {
		return err
	}
	return writeNuGet(filepath.Join(out, "nuget"), programs, license)
}

const (
	summary    = "Shows what garbage collection costs .NET programs, and why"
	homepage   = "https://github.com/gctrail/gctrail"
	repository = homepage + ".git"
)

// A file is a file of a package.
type file struct {
	name string
	data []byte
	mode int64
}

// write writes a package to a folder, which it makes.
func write(folder, name string, data []byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return outfile.WriteFile(filepath.Join(folder, name), data, 0o644)
}
