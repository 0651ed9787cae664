//go:build !windows

package diag

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A socket is a file that a runtime may listen at.
type socket struct {
	name    string
	router  bool   // for the runtime of a device
	pid     int    // in the namespace of the process
	key     string // when the process started, as its system counts; digits may be missing at the end of a cut name
	cut     bool
	created time.Time
	info    fs.FileInfo
}

// socketName is the name of a runtime's socket, or of a router for a device. The end may
// be missing, because the runtime truncates a path that is too long and listens there all
// the same.
var socketName = regexp.MustCompile(`^dotnet-diagnostic-(dsrouter-)?(\d+)-(\d+)(-s?o?c?k?e?t?)?$`)

// socketOf returns the socket that a file may be by its name.
func socketOf(e fs.DirEntry) (socket, bool) {
	s, ok := parseSocket(e.Name())
	if !ok {
		return s, false
	}
	info, err := e.Info()
	if err != nil {
		return s, false // it has just been removed
	}
	s.created, s.info = info.ModTime(), info
	return s, true
}

// parseSocket reads the name of a socket.
func parseSocket(name string) (socket, bool) {
	if !strings.HasPrefix(name, "dotnet-diagnostic-") {
		return socket{}, false
	}
	m := socketName.FindStringSubmatch(name)
	if m == nil {
		return socket{}, false
	}
	pid, err := strconv.Atoi(m[2])
	return socket{name: name, router: m[1] != "", pid: pid, key: m[3], cut: m[4] == ""}, err == nil
}
