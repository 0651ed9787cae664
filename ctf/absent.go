package ctf

import (
	"encoding/binary"
	"io/fs"
	"path"
	"strings"

	"github.com/gctrail/gctrail/internal/binread"
	"github.com/gctrail/gctrail/trace"
)

// The files of an index are headed by a magic number, two of the version, and the
// size of the entries that follow, one for each packet (lttng-index.h).
const (
	indexFolder = "index"
	indexSuffix = ".idx"
	indexMagic  = 0xc1f1dcc1
	indexHeader = 16
)

// absent looks for files of a trace's folder whose index lists packets although
// they are gone or have none. Present are those that have some.
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
		if n := m.indexed(path.Join(dir, indexFolder, e.Name())); n > 0 {
			m.gone = true
			m.damage(path.Join(dir, name), 0, "file", binread.Malformed("no packets of the %d that its index lists", n))
		}
	}
}

// indexed returns the number of packets that an index lists, 0 if it cannot be
// read.
func (m *merger) indexed(name string) int64 {
	f, err := m.fsys.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0
	}
	var h [indexHeader]byte
	if n, _ := f.Read(h[:]); n < len(h) || binary.BigEndian.Uint32(h[:]) != indexMagic {
		return 0
	}
	return (fi.Size() - indexHeader) / max(1, int64(binary.BigEndian.Uint32(h[12:])))
}

// skipsProcessors reports whether there are files of a processor, and none of one
// with a lower number, for which LTTng makes files too.
func skipsProcessors(files []*file) bool {
	type class struct {
		trace [16]byte
		class uint64
	}
	seen, highest := map[class]map[uint32]bool{}, map[class]uint32{}
	for _, f := range files {
		if f.key.alone != "" || f.first.cpu == trace.UnknownCPU {
			continue
		}
		c := class{f.key.trace, f.key.class}
		if seen[c] == nil {
			seen[c] = map[uint32]bool{}
		}
		seen[c][f.first.cpu] = true
		highest[c] = max(highest[c], f.first.cpu)
	}
	for c, cpus := range seen {
		if uint64(len(cpus)) <= uint64(highest[c]) {
			return true
		}
	}
	return false
}
