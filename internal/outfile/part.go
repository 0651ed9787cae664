package outfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// partSuffix ends the names of parts, which begin with a dot.
	partSuffix = ".gctrail-part"
	// maxBase is how many bytes of the file's name go into a part's name, because systems
	// allow 255 for the whole.
	maxBase = 200
	// maxTries bounds the names that are tried.
	maxTries = 100
)

// newPart makes a part for a file name in a folder, and removes the parts of dead writers
// there.
func newPart(folder, base string, perm fs.FileMode) (*os.File, error) {
	Sweep(folder)
	base = strings.ToValidUTF8(base[:min(len(base), maxBase)], "")
	for try := 0; ; try++ {
		var b [6]byte
		_, _ = rand.Read(b[:]) // it never fails
		f, err := openPart(filepath.Join(folder, "."+base+"."+hex.EncodeToString(b[:])+partSuffix), perm)
		if err == nil && !owns(f) {
			err = errors.Join(fs.ErrExist, f.Close())
		}
		if !errors.Is(err, fs.ErrExist) || try == maxTries {
			return f, err
		}
	}
}

// owns locks a new part. It reports whether the part still exists, because Sweep may have
// removed it before it was locked.
func owns(f *os.File) bool {
	held, known := lock(f)
	return (held || !known) && isAt(f, f.Name())
}

// isAt reports whether a file is at a path, not its target.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// Sweep removes the parts in a folder whose writers are dead. Parts of writers in other
// containers stay, because they are locked too. So do parts that cannot be removed.
func Sweep(folder string) {
	d, err := os.Open(folder)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1 << 10)
		for _, name := range names {
			if strings.HasPrefix(name, ".") && strings.HasSuffix(name, partSuffix) {
				sweep(filepath.Join(folder, name))
			}
		}
		if err != nil {
			return
		}
	}
}

// sweep removes a part if its writer is dead and was this user.
func sweep(path string) {
	f, err := openLeft(path)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !isOwn(info) {
		return
	}
	if held, known := lock(f); known && held && isAt(f, path) {
		_ = os.Remove(path) // it is tried again by the next writer
	}
}

// SyncFolder makes the names in a folder survive a crash of the machine, if the system
// supports that.
func SyncFolder(path string) {
	if d, err := os.Open(path); err == nil { // or it may not be listed
		_ = d.Sync() // Windows has no such thing
		_ = d.Close()
	}
}
