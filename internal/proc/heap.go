package proc

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gctrail/gctrail/gc"
)

// A mapping is an entry of /proc/PID/smaps.
type mapping struct {
	start, end uint64
	anonymous  bool // private, without a file, and of a kind that the GC makes
	writable   bool
	resident   int64
}

// A heapRange is the address range of the GC heap. Its size is known; it begins at an
// address from first to last.
type heapRange struct{ first, last, size uint64 }

// certain reports whether a mapping belongs to the heap, wherever between its bounds the
// heap begins.
func (h *heapRange) certain(m *mapping) bool { return m.start >= h.last && m.end <= h.first+h.size }

// possible reports whether a mapping may belong to the heap.
func (h *heapRange) possible(m *mapping) bool { return m.end > h.first && m.start < h.last+h.size }

// FindHeap looks for the range of addresses that the GC reserves at its start, and
// reports whether it found one. From .NET 7 on the heap lies in one range, whose size the
// runtime computes from its limit; the caller passes the possible sizes.
//
// To the system, the range is a row of anonymous mappings without a gap: pages that the
// GC has committed can be written, the others are kept out of dumps. The row may be
// longer because of neighbours, such as the GC's tables. The start of the range is then
// known up to the difference.
func (r *MemoryReader) FindHeap(sizes ...int64) bool {
	var found heapRange
	var row []mapping
	look := func() {
		for _, size := range sizes {
			h, ok := heapIn(row, uint64(size))
			if ok && (found.size == 0 || h.last-h.first < found.last-found.first) {
				found = h
			}
		}
		row = row[:0]
	}
	err := r.eachMapping(func(m *mapping) bool {
		if len(row) > 0 && (!m.anonymous || row[len(row)-1].end != m.start) {
			look()
		}
		if m.anonymous {
			row = append(row, *m)
		}
		return true
	})
	look()
	if err != nil {
		found = heapRange{}
	}
	r.heap = found
	return found.size > 0
}

// page is a multiple of the unit that the runtime rounds the size of the range up to.
const page = 4 << 10

// initialRegions is the least number of regions that the GC commits at its start:
// generations 0, 1 and 2, large and pinned objects each have their own.
const initialRegions = 2

// heapIn returns the range of a heap in a row of mappings, if there can be one.
func heapIn(row []mapping, size uint64) (heapRange, bool) {
	if len(row) == 0 || size == 0 {
		return heapRange{}, false
	}
	size = (size + page - 1) &^ (page - 1)
	first, end := row[0].start, row[len(row)-1].end
	if length := end - first; length < size || length-size > size/2 {
		return heapRange{}, false
	}
	h := heapRange{first, end - size, size}
	regions := 0
	for i := range row {
		if row[i].writable && h.certain(&row[i]) {
			regions++
		}
	}
	return h, regions >= initialRegions
}

// ReadHeap returns the resident and the committed part of the GC heap, unknown unless
// FindHeap has found it. It is expensive, because the kernel visits each page: 5 ms for a
// program of 100 MB.
func (r *MemoryReader) ReadHeap() Heap {
	h := &r.heap
	if h.size == 0 {
		return Heap{}
	}
	var least, most, committed int64
	// If the process is being killed, the list may end anywhere. Otherwise it goes on
	// beyond the heap, at least to the stack of the first thread.
	whole := false
	err := r.eachMapping(func(m *mapping) bool {
		if h.possible(m) {
			most += m.resident
			if h.certain(m) {
				least += m.resident
			}
			if m.writable {
				committed += int64(m.end - m.start)
			}
		}
		whole = m.start >= h.last+h.size
		return !whole
	})
	if err != nil || !whole || most == 0 {
		return Heap{}
	}
	return Heap{Least: gc.Some(least), Most: gc.Some(most), Committed: gc.Some(committed)}
}

// eachMapping calls a function with each mapping of the process, by address, until it
// returns false.
func (r *MemoryReader) eachMapping(each func(*mapping) bool) error {
	f, err := os.Open(filepath.Join(r.folder, "smaps"))
	if err != nil {
		return err
	}
	defer f.Close()
	var m mapping
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Bytes()
		if next, ok := parseMapping(line); ok {
			m = next
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "Rss":
			digits, _, _ := bytes.Cut(bytes.TrimSpace(value), []byte(" "))
			if n, err := strconv.ParseInt(string(digits), 10, 40); err == nil {
				m.resident = n << 10
			}
		case "VmFlags": // the last line
			m.anonymous = m.anonymous && ofHeap(bytes.Fields(value), m.writable)
			if !each(&m) {
				return nil
			}
		}
	}
	return lines.Err()
}

// ofHeap reports whether the GC makes mappings with the given flags. It keeps uncommitted
// memory out of dumps (dd). Arenas of malloc have no swap space reserved (nr), and stacks
// no huge pages (nh). See gcenv.unix.cpp, GCToOSInterface::VirtualReserve.
func ofHeap(flags [][]byte, writable bool) bool {
	kept := false
	for _, f := range flags {
		switch string(f) {
		case "nr", "nh", "gd":
			return false
		case "dd":
			kept = true
		}
	}
	return kept != writable
}

// parseMapping reads a line such as "7f00-7f10 rw-p 00000000 00:00 0 [heap]".
func parseMapping(line []byte) (m mapping, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 5 || len(fields[1]) != 4 {
		return m, false
	}
	from, to, found := bytes.Cut(fields[0], []byte("-"))
	start, err := strconv.ParseUint(string(from), 16, 64)
	end, err2 := strconv.ParseUint(string(to), 16, 64)
	if !found || err != nil || err2 != nil || end <= start {
		return m, false
	}
	access := string(fields[1])
	none, writable := access == "---p", access == "rw-p"
	return mapping{start: start, end: end, anonymous: (none || writable) && len(fields) == 5, writable: writable}, true
}
