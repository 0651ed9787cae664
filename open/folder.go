package open

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFolder bounds the files of a folder that are looked at.
const maxFolder = 256

// refuseFolder says what could be opened in the folder at path.
func refuseFolder(path string) error {
	var (
		traces []string
		known  *UnknownError // the first that is unsupported
		left   = maxFolder
	)
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
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
			traces = append(traces, printable(relative(path, name)))
			return nil
		}
		if known == nil && errors.Is(err, ErrUnsupported) {
			errors.As(err, &known)
		}
		return nil
	})
	if err != nil {
		return err
	}
	e := &UnknownError{Name: path, Looks: "a folder without a trace", Hint: hintReads, Err: ErrNotTrace}
	switch {
	case traces != nil:
		e.Looks = "a folder that holds " + enumerate(traces)
		e.Hint = "name one or several"
	case known != nil:
		e.Looks = fmt.Sprintf("a folder that holds %s, %s", printable(relative(path, known.Name)), known.Looks)
		e.Hint, e.Err = known.Hint, ErrUnsupported
	}
	return e
}

// probe says why there is no trace in the file called name, without unpacking
// more than it takes to tell.
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
	p := peeler{meter: &meter{r: f, at: f}}
	defer p.close()
	found, err := p.peel(layer{Reader: p.meter, at: p.meter, size: fi.Size()}, 0)
	if err != nil {
		return named(name, err)
	}
	return found.refusal(name)
}

// relative is name as seen from folder.
func relative(folder, name string) string {
	if rel, err := filepath.Rel(folder, name); err == nil {
		return filepath.ToSlash(rel)
	}
	return name
}
