package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gctrail/gctrail/internal/outfile"
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

// resolve returns the path of an existing file or folder of the root, without
// symbolic links. A link that leads out of the root is outside of it.
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
	return resolved, nil
}

func (r *root) has(path string) bool {
	rel, err := filepath.Rel(r.dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// create returns the output for a new file of the root that only its owner reads.
func (r *root) create(name, suffix string) (*outfile.File, error) {
	return outfile.Create(r.unused(name, suffix), 0o600, nil)
}

// unused returns the path of a file that is not there.
func (r *root) unused(name, suffix string) string {
	return filepath.Join(r.dir, "gctrail-"+name+"-"+rand.Text()+suffix)
}
