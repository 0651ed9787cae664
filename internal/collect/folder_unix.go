//go:build !windows

package collect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// portFolders begins the names of folders with a socket.
	portFolders = "gctrail-port-"
	portSocket  = "port"
)

// A portFolder is a folder for a socket. It is locked while its process runs: a PID in
// its name would mean another process in another container that shares the parent.
type portFolder struct {
	path string
	lock *os.File
}

// newPortFolder creates a folder, and removes the folders of processes that were killed.
func newPortFolder(parent string) (*portFolder, error) {
	removePortFolders(parent)
	for {
		path, err := os.MkdirTemp(parent, portFolders)
		if err != nil {
			return nil, err
		}
		f, err := lockPortFolder(path)
		if !errors.Is(err, fs.ErrNotExist) { // another gctrail has found it without a lock
			return f, err
		}
	}
}

func lockPortFolder(path string) (*portFolder, error) {
	lock, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	_ = unix.Flock(int(lock.Fd()), unix.LOCK_EX) // a disk without locks has none for who would remove it
	if _, err := os.Lstat(path); err != nil {
		lock.Close()
		return nil, err
	}
	return &portFolder{path, lock}, nil
}

func (f *portFolder) remove() {
	_ = os.RemoveAll(f.path)
	f.lock.Close()
}

// removePortFolders removes the folders that no process has locked.
func removePortFolders(parent string) {
	entries, _ := os.ReadDir(parent) // the readable ones
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), portFolders) {
			removeUnlocked(filepath.Join(parent, e.Name()))
		}
	}
}

// removeUnlocked removes a folder, which may be another user's, if no process has locked
// it, and it has nothing but a socket.
func removeUnlocked(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = unix.Unlinkat(fd, portSocket, 0)
		_ = unix.Rmdir(path) // or another time
	}
}
