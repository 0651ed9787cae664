package open

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/etl"
)

// companionParts begin the middle of the name of a file that PerfView and its
// like leave beside X.etl until they merge them: X.kernel.etl, X.clrRundown.etl,
// X.user1.etl (ETWTraceEventSource.cs, GetMergeAllLogFiles).
var companionParts = []string{"kernel", "clr", "user"}

// isCompanion says whether name is that of a part of main, both without a
// folder.
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

// companions opens the other parts of the ETW trace that the input is a file of:
// those that were named with it, and those beside it that were recorded with it.
func (in *Input) companions(main *found) error {
	for _, name := range in.with {
		switch related, err := in.companion(name, main); {
		case err != nil:
			return err
		case !related:
			return fmt.Errorf("%s is not of one recording with it", name)
		}
	}
	dir, base := filepath.Split(in.Name)
	entries, err := os.ReadDir(filepath.Join(dir, "."))
	if err != nil {
		return nil // it can be read, though not listed
	}
	for _, e := range entries {
		name := dir + e.Name()
		if !e.Type().IsRegular() || !isCompanion(e.Name(), base) || slices.ContainsFunc(in.with, sameAs(name)) {
			continue
		}
		if related, err := in.companion(name, main); related && err == nil {
			in.Companions = append(in.Companions, name)
		} else {
			in.Strangers = append(in.Strangers, name)
		}
	}
	return nil
}

func sameAs(name string) func(string) bool {
	return func(other string) bool { return filepath.Clean(name) == filepath.Clean(other) }
}

// companion opens the file called name as a part of main's trace, if it was
// recorded with main.
func (in *Input) companion(name string, main *found) (related bool, err error) {
	if len(main.more)+1 == maxParts {
		return false, fmt.Errorf("more than %d files belong to it", maxParts)
	}
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	part, err := fileOf(f)
	if err != nil || !etl.Related(etl.File{ReaderAt: main.at, Size: main.size}, part) {
		return false, errors.Join(err, f.Close())
	}
	in.peeler.closers = append(in.peeler.closers, f.Close)
	in.Size += part.Size
	main.more = append(main.more, found{at: in.meter.beside(f), size: part.Size, name: name})
	return true, nil
}

func fileOf(f *os.File) (etl.File, error) {
	fi, err := f.Stat()
	if err != nil {
		return etl.File{}, err
	}
	return etl.File{ReaderAt: f, Size: fi.Size(), Name: f.Name()}, nil
}

// sessions groups paths: ETW files that were recorded together are one trace, and
// stand where the first of them does.
func sessions(paths []string) (groups [][]string) {
	taken := make([]bool, len(paths))
	for i, path := range paths {
		if taken[i] {
			continue
		}
		group := []string{path}
		for j := i + 1; j < len(paths); j++ {
			if !taken[j] && related(path, paths[j]) {
				taken[j] = true
				group = append(group, paths[j])
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// related says whether the files called a and b are such that etl.Related says
// so of.
func related(a, b string) bool {
	var files [2]etl.File
	for i, name := range []string{a, b} {
		if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
			return false
		}
		f, err := os.Open(name)
		if err != nil {
			return false
		}
		defer f.Close()
		if files[i], err = fileOf(f); err != nil {
			return false
		}
	}
	return etl.Related(files[0], files[1])
}

// wholeETW is the file that stands for all those of an ETW trace, if names are
// its files; else empty.
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
