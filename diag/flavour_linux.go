package diag

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func (p *Process) folder() string { return filepath.Join("/proc", strconv.Itoa(p.PID)) }

// readInside reads a file of at most so many bytes, at a path as the process sees it. It
// may follow links, because they stay behind the process's root.
func (p *Process) readInside(path string, most int64) ([]byte, error) {
	if p.PID == 0 {
		return hostRoot.read(path, most)
	}
	return root{dir: filepath.Join(p.folder(), "root"), follow: true}.read(path, most)
}

// threadFlavour looks at the names of the collector's own threads: a server's
// has one for each heap, a concurrent one has another since its first background
// collection.
func (p *Process) threadFlavour() Flavour {
	tids, err := os.ReadDir(filepath.Join(p.folder(), "task"))
	if err != nil {
		return Flavour{}
	}
	var f Flavour
	for _, tid := range tids {
		var room [maxComm]byte
		comm, err := readStart(filepath.Join(p.folder(), "task", tid.Name(), "comm"), room[:])
		if err != nil {
			continue
		}
		switch name := strings.TrimSuffix(string(comm), "\n"); {
		case strings.HasPrefix(name, ".NET Server GC"):
			f.Server = On
		case strings.HasPrefix(name, ".NET BGC"):
			f.Concurrent = On
		case strings.HasPrefix(name, ".NET ") && f.Server == Unknown:
			f.Server = Off
		}
	}
	return f
}
