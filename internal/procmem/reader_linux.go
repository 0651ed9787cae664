package procmem

import (
	"bytes"
	"errors"
	"math"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/gctrail/gctrail/gc"
)

// A Reader reads the memory of one process time and again, by one goroutine.
type Reader struct {
	folder  string // of the process in /proc
	status  string // the path of a file in it, of those that are read each time
	root    string // where /proc and /sys lie; empty but in tests
	cgroup  cgroup
	pss     gc.Opt[int64]
	private gc.Opt[int64]
	buf     *buffer // while it reads
}

// A buffer holds what is read of a file.
type buffer [4 << 10]byte

// buffers are shared by all readers, few of which read at a time.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

func (r *Reader) borrow() { r.buf = buffers.Get().(*buffer) }

func (r *Reader) giveBack() {
	buffers.Put(r.buf)
	r.buf = nil
}

// A cgroup is where the memory of a process is accounted for.
type cgroup struct {
	events string // the path of a file of its folder; empty if there is none
	used   string // the same, there or in the folder above it with the lowest limit
	limit  gc.Opt[int64]
}

// files are the names of a cgroup's files.
type files struct{ used, limit, events string }

var (
	version1 = &files{"memory.usage_in_bytes", "memory.limit_in_bytes", "memory.oom_control"}
	version2 = &files{"memory.current", "memory.max", "memory.events"}
)

// errEnding reports a process that has given its memory back.
var errEnding = errors.New("the process is ending")

// NewReader returns a Reader of the process with a PID.
func NewReader(pid int) *Reader { return newReader("", pid) }

func newReader(root string, pid int) *Reader {
	folder := filepath.Join(root, "/proc", strconv.Itoa(pid))
	return &Reader{root: root, folder: folder, status: filepath.Join(folder, "status")}
}

// Read reads the memory of the process now. Anew says to look for its cgroup, and for
// the limit of that. The error is that of a process that has ended or is about to, or
// may not be looked at.
func (r *Reader) Read(anew bool) (Sample, error) {
	r.borrow()
	defer r.giveBack()
	var s Sample
	status, err := r.read(r.status)
	if err != nil {
		return s, err
	}
	fields(status, ":", 1<<10, map[string]*gc.Opt[int64]{
		"VmRSS": &s.RSS, "RssAnon": &s.Anon, "RssFile": &s.File, "RssShmem": &s.Shared, "VmSwap": &s.Swap,
	})
	if !s.RSS.Known() {
		return Sample{}, errEnding
	}
	if anew {
		r.cgroup = r.findCgroup()
	}
	s.PSS, s.Private = r.pss, r.private
	if c := &r.cgroup; c.events != "" {
		s.Used, s.Limit = r.number(c.used), c.limit
		s.OOMKills = r.kills()
	}
	return s, nil
}

// Kills returns how many processes of the process's cgroup the kernel has killed
// because memory ran out. It may be called when the process has ended.
func (r *Reader) Kills() gc.Opt[int64] {
	if r.cgroup.events == "" {
		return gc.Opt[int64]{}
	}
	r.borrow()
	defer r.giveBack()
	return r.kills()
}

func (r *Reader) kills() (n gc.Opt[int64]) {
	events, err := r.read(r.cgroup.events)
	if err == nil {
		fields(events, " ", 1, map[string]*gc.Opt[int64]{"oom_kill": &n})
	}
	return n
}

// ReadShares reads PSS and Private for the next samples from smaps_rollup, unless that
// is forbidden. It is not part of Read because the kernel looks at each page: it took
// 1.6 ms for a .NET program without work, 50 times as long as the rest.
func (r *Reader) ReadShares() {
	r.borrow()
	defer r.giveBack()
	r.pss, r.private = gc.Opt[int64]{}, gc.Opt[int64]{}
	rollup, err := r.read(filepath.Join(r.folder, "smaps_rollup"))
	if err != nil {
		return
	}
	var clean, dirty gc.Opt[int64]
	fields(rollup, ":", 1<<10, map[string]*gc.Opt[int64]{"Pss": &r.pss, "Private_Clean": &clean, "Private_Dirty": &dirty})
	if clean.Known() && dirty.Known() {
		r.private = gc.Some(clean.Or(0) + dirty.Or(0))
	}
}

// findCgroup returns the cgroup that accounts for the memory of the process: of
// version 1 if there is such a hierarchy for memory, otherwise of version 2.
func (r *Reader) findCgroup() cgroup {
	text, err := r.read(filepath.Join(r.folder, "cgroup"))
	if err != nil {
		return cgroup{}
	}
	var unified, memory string
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0" && parts[1] == "":
			unified = parts[2]
		case strings.Contains(","+parts[1]+",", ",memory,"):
			memory = parts[2]
		}
	}
	for _, at := range [...]struct {
		mount, path string
		files       *files
	}{
		{"/sys/fs/cgroup/memory", memory, version1},
		{"/sys/fs/cgroup", unified, version2},
		{"/sys/fs/cgroup/unified", unified, version2},
	} {
		if at.path == "" {
			continue
		}
		if c := r.limitedBy(filepath.Join(r.root, at.mount), at.path, at.files); c.events != "" {
			return c
		}
	}
	return cgroup{}
}

// limitedBy finds the lowest limit of a cgroup and those above it.
func (r *Reader) limitedBy(mount, name string, files *files) (c cgroup) {
	for name = path.Clean("/" + name); ; name = path.Dir(name) {
		folder := filepath.Join(mount, name)
		used := filepath.Join(folder, files.used)
		if c.events == "" && r.number(used).Known() {
			c.events, c.used = filepath.Join(folder, files.events), used
		}
		if limit, known := r.number(filepath.Join(folder, files.limit)).Get(); known && limit < noLimit && limit < c.limit.Or(noLimit) {
			c.limit, c.used = gc.Some(limit), used
		}
		if name == "/" {
			return c
		}
	}
}

// noLimit is a limit that version 1 writes if there is none, or more.
const noLimit = math.MaxInt64 / 2

// number reads a file with one number.
func (r *Reader) number(name string) gc.Opt[int64] {
	text, err := r.read(name)
	if err != nil {
		return gc.Opt[int64]{}
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return gc.Opt[int64]{}
	}
	return gc.Some(n)
}

// read returns the beginning of a file, until the next call. It makes as few system
// calls as possible: an os.File makes twice as many.
func (r *Reader) read(name string) ([]byte, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, r.buf[:])
		if !errors.Is(err, syscall.EINTR) {
			return r.buf[:max(n, 0)], err
		}
	}
}

// Available returns how much of the machine's memory programs can still get.
func Available() gc.Opt[int64] { return ofMachine("MemAvailable") }

// Total returns how much memory the machine has.
func Total() gc.Opt[int64] { return ofMachine("MemTotal") }

func ofMachine(name string) (n gc.Opt[int64]) {
	var r Reader
	r.borrow()
	defer r.giveBack()
	text, err := r.read("/proc/meminfo")
	if err == nil {
		fields(text, ":", 1<<10, map[string]*gc.Opt[int64]{name: &n})
	}
	return n
}

// fields reads lines of a name, a separator and a number, in a unit.
func fields(text []byte, separator string, unit int64, wanted map[string]*gc.Opt[int64]) {
	for line := range bytes.Lines(text) {
		name, value, found := bytes.Cut(line, []byte(separator))
		to := wanted[string(name)]
		if !found || to == nil {
			continue
		}
		digits, _, _ := bytes.Cut(bytes.TrimSpace(value), []byte(" "))
		if n, err := strconv.ParseInt(string(digits), 10, 64); err == nil && n >= 0 && n < math.MaxInt64/unit {
			*to = gc.Some(n * unit)
		}
	}
}
