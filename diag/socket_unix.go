//go:build !windows

package diag

import (
	"io/fs"
	"regexp"
	"strconv"
	"time"
)

// A socket is a file that a runtime may listen at.
type socket struct {
	path    string
	pid     int    // in the namespace of the process
	key     string // when the process started, as its system counts; digits may be missing at the end of a cut name
	cut     bool
	created time.Time
}

// socketName is the name of a runtime's socket, or of a router for a device. A
// path longer than a socket's can be is cut by the runtime, which listens there
// all the same.
var socketName = regexp.MustCompile(`^dotnet-diagnostic-(dsrouter-)?(\d+)-(\d+)(-s?o?c?k?e?t?)?$`)

// sockets picks the sockets out of a folder's entries. The folder's path ends in
// a separator.
func sockets(folder string, entries []fs.DirEntry) []socket {
	var all []socket
	for _, e := range entries {
		m := socketName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		pid, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		s := socket{path: folder + e.Name(), pid: pid, key: m[3], cut: m[4] == ""}
		if info, err := e.Info(); err == nil {
			s.created = info.ModTime()
		}
		all = append(all, s)
	}
	return all
}
