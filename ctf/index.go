package ctf

import (
	"bufio"
	"encoding/binary"
	"io"
	"io/fs"
	"path"

	"github.com/gctrail/gctrail/internal/binread"
)

// An index reads the file that LTTng writes beside a stream file: an entry for each
// of its packets, in their order (lttng-index.h). The zero index has no entries.
type index struct {
	file  fs.File
	in    *bufio.Reader
	entry []byte // the entry read last
	off   int64  // of its packet; -1 if there is none
}

// Offsets in an entry. Later fields are not read.
const (
	entryOffset = 0
	entryBegin  = 24
	entryEnd    = 32
	entryLeast  = 40
	entryNumber = 64 // from version 1.1 on
	// maxEntry bounds an entry: LTTng's have 72 bytes.
	maxEntry = 4096
)

// openIndex opens the index of a stream file.
func (m *merger) openIndex(name string) (x index) {
	f, err := m.fsys.Open(path.Join(path.Dir(name), indexFolder, path.Base(name)+indexSuffix))
	if err != nil {
		return x
	}
	in := bufio.NewReader(f)
	var h [indexHeader]byte
	if _, err := io.ReadFull(in, h[:]); err != nil || binary.BigEndian.Uint32(h[:]) != indexMagic {
		f.Close()
		return x
	}
	size := binary.BigEndian.Uint32(h[12:])
	if size < entryLeast || size > maxEntry {
		f.Close()
		return x
	}
	return index{file: f, in: in, entry: make([]byte, size), off: -1}
}

func (x *index) close() {
	if x.file != nil {
		x.file.Close()
		*x = index{}
	}
}

// at returns the index's entry for the packet at an offset of its file: when it
// begins and ends, in cycles. An end of 0 is unknown. Offsets must ascend.
func (x *index) at(off int64) (begin, end uint64, ok bool) {
	for x.file != nil && x.off < off {
		if _, err := io.ReadFull(x.in, x.entry); err != nil {
			x.close()
			return 0, 0, false
		}
		x.off = int64(binary.BigEndian.Uint64(x.entry[entryOffset:]) & (1<<63 - 1))
	}
	if x.file == nil || x.off != off {
		return 0, 0, false
	}
	begin, end = binary.BigEndian.Uint64(x.entry[entryBegin:]), binary.BigEndian.Uint64(x.entry[entryEnd:])
	return begin, end, end > 0
}

// describes reports whether the entry that was looked up last can be that of a packet, by
// the sequence number that entries have from version 1.1 on.
func (x *index) describes(p *packet) bool {
	return !p.numbered || len(x.entry) < entryNumber+8 || binary.BigEndian.Uint64(x.entry[entryNumber:]) == p.sequence
}

// more reports whether the index lists packets behind the last one that was looked up.
func (x *index) more() bool {
	if x.file == nil {
		return false
	}
	_, err := io.ReadFull(x.in, x.entry)
	return err == nil
}

// compare checks the times of the current packet against its index. If they differ, one
// of them is damaged, so the packet gets the intersection of both ranges, which cannot
// make the trace longer. An entry of another packet does not concern it: packets are
// missing before it, or are there twice, which their sequence numbers show.
func (s *stream) compare() {
	p := &s.packet
	begin, end, ok := s.index.at(s.window.off)
	if !ok || begin == p.first && end == p.lastCycles {
		return
	}
	first, last := max(begin, p.first), min(end, p.lastCycles)
	switch {
	case first < last:
	case !s.index.describes(p):
		return
	default: // the times in the index are of no use
		first, last = p.first, p.lastCycles
	}
	s.m.damage(s.path, s.window.off, "packet", binread.Malformed("from %d to %d cycles, and in the index from %d to %d", p.first, p.lastCycles, begin, end))
	p.first, p.lastCycles = first, last
	p.begin, p.end = s.class.clock.ns(first), s.class.clock.ns(last)
	s.m.lost(0, p.begin, p.end)
}
