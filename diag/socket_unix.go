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

// socketName is the name of a runtime's socket, or of a router for a device. A
// path longer than a socket's can be is cut by the runtime, which listens there
// all the same.
var socketName = regexp.MustCompile(`^dotnet-diagnostic-(dsrouter-)?(\d+)-(\d+)(-s?o?c?k?e?t?)?$`)

// socketOf returns the socket that a file may be by its name.
func socketOf(e fs.DirEntry) (socket, bool) {
	if !strings.HasPrefix(e.Name(), "dotnet-diagnostic-") {
		return socket{}, false
	}
	m := socketName.FindStringSubmatch(e.Name())
	if m == nil {
		return socket{}, false
	}
	pid, err := strconv.Atoi(m[2])
	info, infoErr := e.Info()
	if err != nil || infoErr != nil {
		return socket{}, false
	}
	return socket{name: e.Name(), router: m[1] != "", pid: pid, key: m[3], cut: m[4] == "", created: info.ModTime(), info: info}, true
}
