package ctf

import (
	"io/fs"
	"path"
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
)

// The files of an index are headed by a magic number, two of the version, and the
// size of the entries that follow, one for each packet (lttng-index.h).
const (
	indexFolder = "index"
	indexSuffix = ".idx"
	indexMagic  = 0xc1f1dcc1
	indexHeader = 16
)

// absent looks for files of a trace's folder whose index lists packets although they are
// gone or empty. present holds the files that have packets.
func (m *merger) absent(dir string, present map[string]bool) {
	entries, err := fs.ReadDir(m.fsys, path.Join(dir, indexFolder))
	if err != nil {
		return
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), indexSuffix)
		if !ok || present[name] {
			continue
		}
		switch n := m.indexed(path.Join(dir, name)); {
		case n > 0:
			m.gone = true
			m.damage(path.Join(dir, name), 0, "file", binread.Malformed("no packets of the %d that its index lists", n))
		case n == 0:
			m.idle = true
		default:
			m.uncounted = true // it may have had packets
		}
	}
}

// indexed returns the number of packets that the index of a stream file lists, -1 if it cannot
// be read.
func (m *merger) indexed(name string) int64 {
	x := m.openIndex(name)
	if x.file == nil {
		return -1
	}
	defer x.close()
	fi, err := x.file.Stat()
	if err != nil {
		return -1
	}
	return (fi.Size() - indexHeader) / int64(len(x.entry))
}
