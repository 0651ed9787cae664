package etwlive

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/internal/etwsession"
)

// folderPrefix begins the name of a session's temporary folder. The id of its process
// follows.
const folderPrefix = "gctrail-top-"

// newFolder creates a folder for the files of a session.
func newFolder() (string, error) {
	return os.MkdirTemp("", folderPrefix+strconv.Itoa(os.Getpid())+"-")
}

// removeOrphans stops the sessions and removes the folders of processes that were killed.
func removeOrphans(system etwsession.System) {
	etwsession.StopOrphans(system) // they would go on writing
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, e := range entries {
		if pid, ok := ownerOf(e.Name()); ok && e.IsDir() && pid != os.Getpid() && !system.Runs(pid) {
			_ = os.RemoveAll(filepath.Join(os.TempDir(), e.Name())) // or another time
		}
	}
}

// ownerOf returns the PID in the name of a folder of newFolder.
func ownerOf(name string) (pid int, ok bool) {
	id, ok := strings.CutPrefix(name, folderPrefix)
	if !ok {
		return 0, false
	}
	id, _, ok = strings.Cut(id, "-")
	pid, err := strconv.Atoi(id)
	return pid, ok && err == nil && pid > 0
}
