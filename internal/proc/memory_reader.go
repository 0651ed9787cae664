package proc

import (
	"errors"
	"math"
	"path/filepath"
	"strconv"

	"github.com/gctrail/gctrail/gc"
)

// A MemoryReader reads the memory of one process repeatedly, on Linux. It is for use by one
// goroutine.
type MemoryReader struct {
	folder  string // of the process in /proc
	status  string // path of a file that is read each time
	root    string // where /proc and /sys lie; empty but in tests
	cgroup  cgroup
	kills   killCounts
	heap    heapRange // empty if unknown
	pss     gc.Opt[int64]
	private gc.Opt[int64]
}

// killCounts holds the OOM kills that cgroups counted at the latest Read.
type killCounts struct{ own, above gc.Opt[int64] }

// A cgroup is where the memory of a process is accounted for.
type cgroup struct {
	events string // the path of a file of its folder; empty if there is none
	above  string // the same of the folder above it, where that counts its kills too and is not the root
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

// NewMemoryReader returns a MemoryReader of the process with a PID.
func NewMemoryReader(pid int) *MemoryReader { return newMemoryReader("", pid) }

func newMemoryReader(root string, pid int) *MemoryReader {
	folder := filepath.Join(root, "/proc", strconv.Itoa(pid))
	return &MemoryReader{root: root, folder: folder, status: filepath.Join(folder, "status")}
}

// Read reads the memory of the process now. With anew it looks for its cgroup and the
// limit again. It returns an error if the process has ended, is about to, or may not be
// read.
func (r *MemoryReader) Read(anew bool) (MemorySample, error) {
	var s MemorySample
	if err := readFields(r.status, ":", 1<<10, map[string]*gc.Opt[int64]{
		"VmRSS": &s.RSS, "RssAnon": &s.Anon, "RssFile": &s.File, "RssShmem": &s.Shared, "VmSwap": &s.Swap,
	}); err != nil {
		return MemorySample{}, err
	}
	if !s.RSS.Known() {
		return MemorySample{}, errEnding
	}
	if anew {
		r.cgroup = r.findCgroup()
	}
	s.PSS, s.Private = r.pss, r.private
	if c := &r.cgroup; c.events != "" {
		s.Used, s.Limit = number(c.used), c.limit
		r.kills = killCounts{killsIn(c.events), killsIn(c.above)}
		s.OOMKills = r.kills.own
	}
	return s, nil
}

// RSS returns the resident memory of the process now, unknown if that cannot be read.
func (r *MemoryReader) RSS() (rss gc.Opt[int64]) {
	_ = readFields(r.status, ":", 1<<10, map[string]*gc.Opt[int64]{"VmRSS": &rss}) // unknown then
	return rss
}

// Peak returns the most resident memory that the process has had so far, unknown if that
// cannot be read.
func (r *MemoryReader) Peak() (peak gc.Opt[int64]) {
	_ = readFields(r.status, ":", 1<<10, map[string]*gc.Opt[int64]{"VmHWM": &peak}) // unknown then
	return peak
}

// KillsSince returns how many processes of the process's cgroup the kernel has killed since
// the latest Read because memory ran out. It may be called after the process has ended. If
// the cgroup has been removed, as when a container ends, KillsSince reads its parent, which
// in version 2 also counts the kills below it, such as all of a pod.
func (r *MemoryReader) KillsSince() gc.Opt[int64] {
	since := func(now, before gc.Opt[int64]) gc.Opt[int64] {
		return gc.SomeIf(max(0, now.Or(0)-before.Or(0)), now.Known() && before.Known())
	}
	if own := killsIn(r.cgroup.events); own.Known() {
		return since(own, r.kills.own)
	}
	return since(killsIn(r.cgroup.above), r.kills.above)
}

// killsIn returns the OOM kills that a file of a cgroup counts, unknown without a path.
func killsIn(path string) (n gc.Opt[int64]) {
	if path != "" {
		_ = readFields(path, " ", 1, map[string]*gc.Opt[int64]{"oom_kill": &n}) // unknown then
	}
	return n
}

// ReadShares reads PSS and Private for the next samples from smaps_rollup, unless that
// is forbidden. It is not part of Read because the kernel looks at each page: it took
// 1.6 ms for a .NET program without work, 50 times as long as the rest.
func (r *MemoryReader) ReadShares() {
	r.pss, r.private = gc.Opt[int64]{}, gc.Opt[int64]{}
	var clean, dirty gc.Opt[int64]
	_ = readFields(filepath.Join(r.folder, "smaps_rollup"), ":", 1<<10, map[string]*gc.Opt[int64]{
		"Pss": &r.pss, "Private_Clean": &clean, "Private_Dirty": &dirty,
	}) // unknown then
	r.private = gc.SomeIf(clean.Or(0)+dirty.Or(0), clean.Known() && dirty.Known())
}

// findCgroup returns the cgroup that accounts for the memory of the process: of
// version 1 if there is such a hierarchy for memory, otherwise of version 2.
func (r *MemoryReader) findCgroup() cgroup {
	for _, h := range hierarchies(r.root, r.folder, "memory") {
		names := version1
		if h.V2 {
			names = version2
		}
		if c := r.limitedBy(h, names); c.events != "" {
			return c
		}
	}
	return cgroup{}
}

// limitedBy finds the lowest limit of a cgroup and its parents.
func (r *MemoryReader) limitedBy(h Hierarchy, files *files) (c cgroup) {
	for folder := range h.Folders() {
		used := filepath.Join(folder, files.used)
		if c.events == "" && number(used).Known() {
			c.events, c.used = filepath.Join(folder, files.events), used
			if above := filepath.Dir(folder); h.V2 && folder != h.Mount && above != h.Mount {
				c.above = filepath.Join(above, files.events)
			}
		}
		if limit, known := number(filepath.Join(folder, files.limit)).Get(); known && limit < noLimit && limit < c.limit.Or(noLimit) {
			c.limit, c.used = gc.Some(limit), used
		}
	}
	return c
}

// noLimit is a limit that version 1 writes if there is none, or more.
const noLimit = math.MaxInt64 / 2

// Available returns how much of the machine's memory programs can still get.
func Available() gc.Opt[int64] { return ofMachine("MemAvailable") }

// Total returns how much memory the machine has.
func Total() gc.Opt[int64] { return ofMachine("MemTotal") }

func ofMachine(name string) (n gc.Opt[int64]) {
	_ = readFields("/proc/meminfo", ":", 1<<10, map[string]*gc.Opt[int64]{name: &n}) // unknown then
	return n
}
