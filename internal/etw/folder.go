package etw

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// folderPrefix begins the name of a session's temporary folder. The id of its process
// follows.
const folderPrefix = "gctrail-top-"

// newFolder creates a folder for the files of a session.
func newFolder() (string, error) {
	return os.MkdirTemp("", folderPrefix+strconv.Itoa(os.Getpid())+"-")
}

// removeOrphans stops the sessions and removes the folders of processes that were killed.
func removeOrphans(system System) {
	stopOrphans(system) // they would go on writing
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, e := range entries {
		if rest, ok := orphaned(system, e.Name(), folderPrefix); ok && e.IsDir() && strings.HasPrefix(rest, "-") {
			_ = os.RemoveAll(filepath.Join(os.TempDir(), e.Name())) // or another time
		}
	}
}
