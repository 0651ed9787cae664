package open

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gctrail/gctrail/trace"
)

// maxFolder bounds the files of a folder that are looked at.
const maxFolder = 256

// otherFolder opens the folder at path as an ETW trace if its files belong to one;
// reason is why it cannot be read as an LTTng trace. Otherwise the error names what
// could be opened in it, or is the reason if the folder is an LTTng trace.
func otherFolder(path string, reason error, opts Options) (*Input, error) {
	traces, known, err := lookInto(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(traces))
	for i := range traces {
		names[i] = traces[i].Name
	}
	if main := wholeETW(names); main != "" {
		return File(filepath.Join(path, main), opts)
	}
	slices.SortStableFunc(traces, func(a, b FolderTrace) int { return b.Modified.Compare(a.Modified) })
	for i := range traces {
		names[i] = printable(traces[i].Name)
	}
	_, malformed := errors.AsType[*trace.FormatError](reason)
	e := &UnknownError{Name: path, Detected: "a folder without a trace", Hint: hintReads, Err: trace.ErrNotTrace}
	switch {
	case traces != nil:
		e.Detected = "a folder that holds " + enumerate(names)
		e.Hint = "give one or more of them"
		e.Traces = traces
	case malformed && (!errors.Is(reason, trace.ErrNotTrace) || known != nil && known.Hint == hintFolder):
		return nil, named(path, reason)
	case known != nil:
		e.Detected = fmt.Sprintf("a folder that holds %s, %s", printable(relative(path, known.Name)), known.Detected)
		e.Hint, e.Err = known.Hint, trace.ErrUnsupported
	}
	return nil, e
}

// lookInto finds the traces in the folder at path and below it, and the first unsupported
// one.
func lookInto(path string) (traces []FolderTrace, known *UnknownError, err error) {
	left := maxFolder
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == path:
			return err
		case left == 0:
			return fs.SkipAll
		case err != nil || !d.Type().IsRegular():
			return nil
		}
		left--
		err = probe(name)
		if err == nil {
			t := FolderTrace{Name: relative(path, name)}
			if info, err := d.Info(); err == nil {
				t.Size, t.Modified = info.Size(), info.ModTime()
			}
			traces = append(traces, t)
			return nil
		}
		if known == nil && errors.Is(err, trace.ErrUnsupported) {
			errors.As(err, &known)
		}
		return nil
	})
	return traces, known, err
}

// probe returns the reason why the file called name is not a trace, unpacking no more
// than necessary.
func probe(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	p := peeler{meter: newMeter(f, f)}
	defer p.close()
	found, err := p.peel(layer{Reader: p.meter, at: p.meter, size: fi.Size()}, 0)
	if err != nil {
		return named(name, err)
	}
	return found.refusal(name)
}

// relative returns name as seen from folder.
func relative(folder, name string) string {
	if rel, err := filepath.Rel(folder, name); err == nil {
		return filepath.ToSlash(rel)
	}
	return name
}
