package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A root is the folder that the paths of a client stay in.
type root struct {
	dir string // without symbolic links
}

func openRoot(path string) (*root, error) {
	dir, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", path)
	}
	return &root{dir}, nil
}

var errOutside = errors.New("the path is outside the root")

// resolve returns the path of an existing file or folder of the root, without symbolic
// links. A link that leads out of the root is an error.
func (r *root) resolve(path string) (string, error) {
	if path == "" || path == "-" {
		return "", errors.New("a path is missing")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	if !r.has(filepath.Clean(path)) {
		return "", errOutside
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if !r.has(resolved) {
		return "", errOutside
	}
	if info, err := os.Stat(resolved); err != nil {
		return "", err
	} else if !info.IsDir() && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", r.relative(resolved)) // opening a pipe waits for a writer
	}
	return resolved, r.readable(resolved)
}

// maxFiles bounds the files of a folder that a client names.
const maxFiles = 10_000

// readable returns an error for a folder with links that lead out of the root. It checks only
// links, because commands skip other irregular files in folders.
func (r *root) readable(path string) error {
	files := 0
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if files++; files > maxFiles {
			return fmt.Errorf("the folder has more than %d files", maxFiles)
		}
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			return r.linked(name)
		default:
			return nil
		}
	})
}

// linked returns an error for a link to a folder, or out of the root.
func (r *root) linked(name string) error {
	target, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is nothing to read
	} else if err != nil {
		return err
	}
	if !r.has(target) {
		return errOutside
	}
	if info, err := os.Stat(target); err != nil || info.IsDir() {
		return fmt.Errorf("%s is a link to a folder", r.relative(name))
	}
	return nil
}

// relative returns a path of the root in the form that a client uses, and any other path
// unchanged.
func (r *root) relative(path string) string {
	if rel, err := filepath.Rel(r.dir, path); err == nil && r.has(path) {
		return filepath.ToSlash(rel)
	}
	return path
}

func (r *root) has(path string) bool {
	rel, err := filepath.Rel(r.dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// unused returns the path of a file that is not there.
func (r *root) unused(name, suffix string) string {
	return filepath.Join(r.dir, "gctrail-"+name+"-"+rand.Text()+suffix)
}
