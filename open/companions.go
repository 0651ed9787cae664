package open

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/etl"
)

// companionParts begin the middle of the name of a file that PerfView and similar tools
// leave next to X.etl until they merge them: X.kernel.etl, X.clrRundown.etl, X.user1.etl
// (ETWTraceEventSource.cs, GetMergeAllLogFiles).
var companionParts = []string{"kernel", "clr", "user"}

// isCompanion reports whether name can be a part of main, both without a folder.
func isCompanion(name, main string) bool {
	rest, ok := cutPrefixFold(name, strings.TrimSuffix(main, filepath.Ext(main))+".")
	if !ok || !strings.EqualFold(filepath.Ext(main), ".etl") || !strings.EqualFold(filepath.Ext(rest), ".etl") {
		return false
	}
	return slices.ContainsFunc(companionParts, func(part string) bool {
		_, ok := cutPrefixFold(rest, part)
		return ok
	})
}

func cutPrefixFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// companions opens the other parts of the ETW trace that the input is a file of: files
// named together with it, files that sessions found to belong to it, and files next to it
// that were recorded with it.
func (in *Input) companions(main *found) error {
	if in.file == nil || in.meter.at == nil {
		return in.addContent(main)
	}
	for _, name := range in.with {
		part, err := openETW(name)
		if err == nil {
			err = in.addPart(main, part)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range companionsOf(in.Name) {
		if !slices.ContainsFunc(in.with, sameAs(name)) {
			part, _ := openETW(name) // nil if that fails
			in.addRelated(main, name, part)
		}
	}
	return nil
}

// companionsOf returns the files beside a file that have the name of a part of its trace.
func companionsOf(path string) (names []string) {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Join(dir, ".")) // a folder can be readable, though not listed
	for _, e := range entries {
		if e.Type().IsRegular() && isCompanion(e.Name(), base) {
			names = append(names, dir+e.Name())
		}
	}
	return names
}

func sameAs(name string) func(string) bool {
	return func(other string) bool { return filepath.Clean(name) == filepath.Clean(other) }
}

// addRelated makes a file a part of main's trace, if both were recorded together; else, or if
// it is nil, the file is foreign.
func (in *Input) addRelated(main *found, name string, part *etwFile) {
	files := []etl.File{{ReaderAt: main.at, Size: main.size}}
	for _, m := range main.more {
		files = append(files, etl.File{ReaderAt: m.at, Size: m.size})
	}
	switch {
	case part == nil:
	case etl.Recordings(append(files, part.File))[len(files)] != 0:
		part.Close()
	case in.addPart(main, part) == nil:
		in.Companions = append(in.Companions, name)
		return
	}
	in.Foreign = append(in.Foreign, name)
}

// addPart makes part one of main's trace.
func (in *Input) addPart(main *found, part *etwFile) error {
	if len(main.more)+1 == maxParts {
		return errors.Join(fmt.Errorf("more than %d files belong to it", maxParts), part.Close())
	}
	in.peeler.closers = append(in.peeler.closers, part.Close)
	in.Size += part.Size
	main.more = append(main.more, found{at: in.meter.beside(part.ReaderAt), size: part.Size, name: part.Name})
	return nil
}

// An etwFile is an open file that may be of an ETW trace.
type etwFile struct {
	etl.File
	io.Closer
}

// openETW opens the file called name, if it is a regular one.
func openETW(name string) (*etwFile, error) {
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &etwFile{etl.File{ReaderAt: f, Size: fi.Size(), Name: name}, f}, nil
}

// headOf returns the beginning of the file called name, which holds the file
// header of an ETW trace. It is empty if it cannot be read.
func headOf(name string) etl.File {
	f, err := openETW(name)
	if err != nil {
		return etwHead(strings.NewReader(""))
	}
	defer f.Close()
	return etwHead(io.NewSectionReader(f, 0, f.Size))
}

// etwHead returns the beginning of r's bytes.
func etwHead(r io.Reader) etl.File {
	var head [sniffLen]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		n = 0 // it belongs to no other
	}
	return etl.File{ReaderAt: bytes.NewReader(head[:n]), Size: int64(n)}
}

// wholeETW returns the main file of an ETW trace if names are its files; else it
// returns nothing.
func wholeETW(names []string) string {
	whole := ""
	for _, main := range names {
		if !strings.EqualFold(filepath.Ext(main), ".etl") || strings.ContainsAny(main, `/`) {
			return ""
		}
		if slices.ContainsFunc(names, func(n string) bool { return isCompanion(main, n) }) {
			continue
		}
		if whole != "" {
			return ""
		}
		whole = main
	}
	return whole
}
