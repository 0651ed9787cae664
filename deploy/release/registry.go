package main

import (
	"archive/tar"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"time"

	"github.com/gctrail/gctrail/internal/outfile"
)

// registry writes the packages of a release for npm and NuGet.
func registry(args []string) error {
	flags := flag.NewFlagSet("release registry", flag.ExitOnError)
	out := flags.String("o", "", "the folder to write to")
	version := flags.String("version", "", "the version of programs in which Go noted none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return writePackages(*out, *version, flags.Args())
}

func writePackages(out, version string, paths []string) error {
	if out == "" || len(paths) == 0 {
		return errors.New("usage: release registry [-version VERSION] -o FOLDER PROGRAM…")
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

// A file is a file of a package or of the page.
type file struct {
	name string
	data []byte
	mode int64 // in an archive; the archives of the page have none
}

// header describes the file to archives.
func (f file) header(modified time.Time) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: modified}
}

// writePackage writes a package to a folder, which it makes.
func writePackage(folder, name string, data []byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return outfile.WriteFile(filepath.Join(folder, name), data, 0o644)
}
