package ledger

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Record is the state of a process in one second. Sizes are in bytes. Figures measured
// by collections are the latest collection's, which may lie in an earlier second.
type Record struct {
	Time time.Time

	RSS, Anon, File, Shared, Swap gc.Opt[int64] // resident, its parts, and the swapped out memory
	PSS, Private                  gc.Opt[int64] // read every five minutes
	Used, Limit                   gc.Opt[int64] // of the cgroup whose limit is the lowest
	OOMKills                      gc.Opt[int64] // in the process's cgroup, ever
	Available                     gc.Opt[int64] // of the machine's memory

	HardLimit gc.Opt[int64] // of the GC heap

	Collections gc.Opt[int64] // in this second
	Paused      gc.Opt[int64] // nanoseconds, in this second
	Longest     gc.Opt[int64] // pause in this second, in nanoseconds

	GC, Generation, Reason   gc.Opt[int64] // number of the latest collection, its generation and reason
	Heap, Fragmentation      gc.Opt[int64] // after it; free space in it
	Gen0, Gen1, Gen2         gc.Opt[int64]
	LOH, POH                 gc.Opt[int64]
	Committed, Budget        gc.Opt[int64]
	MemoryLoad, PromotedSize gc.Opt[int64] // percent; bytes

	Allocatable gc.Opt[int64] // until the next collection: the budgets of gen 0, LOH and POH
	OOMAttempt  gc.Opt[int64] // number of the latest collection that was the last attempt before an OutOfMemoryException

	HeapLeast, HeapMost gc.Opt[int64] // bounds of the resident part of the GC heap, read now; mostly unknown
	HeapCommitted       gc.Opt[int64] // read now
}

// StartSecond begins the record of another second: counts are zero again, other figures
// stay.
func (r *Record) StartSecond(now time.Time) {
	r.Time = now
	r.Collections, r.Paused, r.Longest = gc.Some(int64(0)), gc.Some(int64(0)), gc.Some(int64(0))
}

// Bounds hold the least and the largest value that a size may have, in bytes.
type Bounds struct{ Least, Most int64 }

// Unbounded is the Bounds of an unknown size.
var Unbounded = Bounds{0, math.MaxInt64}

// Exact returns the size if it is known to 1 MB.
func (b Bounds) Exact() gc.Opt[int64] {
	const precise = 1 << 20
	return gc.SomeIf(b.Least, b.Most-b.Least <= precise)
}

// Native returns the bounds of resident memory outside the GC heap.
//
// Where the heap was read at the same time, the rest is native. Otherwise the latest
// collection bounds it: the heap holds at most the memory committed then and the memory
// that may have been allocated since, and at least the small objects that survived. Large
// objects do not count, because memory that was never written to is not resident.
func (r *Record) Native() gc.Opt[Bounds] { return r.nativeAfter(r) }

// nativeAfter returns the bounds that hold for the latest collections of both records. It
// needs both, because events arrive later than they are raised: there may have been
// collections between the latest one and the reading of resident memory, or after both.
func (r *Record) nativeAfter(other *Record) gc.Opt[Bounds] {
	rss, known := r.RSS.Get()
	if !known {
		return gc.Opt[Bounds]{}
	}
	if r.HeapLeast.Known() && r.HeapMost.Known() {
		return gc.Some(Bounds{max(0, rss-r.HeapMost.Or(0)), max(0, rss-r.HeapLeast.Or(0))})
	}
	if !r.Committed.Known() || !other.Committed.Known() {
		return gc.Opt[Bounds]{}
	}
	least := max(0, rss-max(r.Committed.Or(0)+r.allocatable(), other.Committed.Or(0)+other.allocatable()))
	small := min(r.small(), other.small())
	if small > rss {
		return gc.Opt[Bounds]{} // all of them are of a later time
	}
	return gc.Some(Bounds{least, max(least, rss-small)})
}

// small returns a lower bound of the small objects in bytes that survived the latest
// collection and are not swapped out.
func (r *Record) small() int64 {
	return max(0, r.Gen0.Or(0)+r.Gen1.Or(0)+r.Gen2.Or(0)-r.Fragmentation.Or(0)-r.Swap.Or(0))
}

// allocatable returns the most that may have been allocated since the latest collection.
// Ledgers of version 1 only have the budgets of all generations together, which are larger.
func (r *Record) allocatable() int64 { return r.Allocatable.Or(r.Budget.Or(0)) }

// figures are the figures of a record, in the order of the file.
func (r *Record) figures() [numFigures]*gc.Opt[int64] {
	return [numFigures]*gc.Opt[int64]{
		&r.RSS, &r.Anon, &r.File, &r.Shared, &r.Swap, &r.PSS, &r.Private, &r.Used, &r.Limit, &r.OOMKills, &r.Available,
		&r.HardLimit, &r.Collections, &r.Paused, &r.Longest, &r.GC, &r.Generation, &r.Reason, &r.Heap, &r.Fragmentation,
		&r.Gen0, &r.Gen1, &r.Gen2, &r.LOH, &r.POH, &r.Committed, &r.Budget, &r.MemoryLoad, &r.PromotedSize,
		&r.Allocatable, &r.OOMAttempt, &r.HeapLeast, &r.HeapMost, &r.HeapCommitted,
	}
}

// names are the figures' names in JSON.
var names = [numFigures]string{
	"rss_bytes", "anon_bytes", "file_bytes", "shared_bytes", "swap_bytes", "pss_bytes", "private_bytes", "cgroup_used_bytes",
	"cgroup_limit_bytes", "cgroup_oom_kills", "available_bytes", "hard_limit_bytes", "collections", "paused_ns", "longest_pause_ns",
	"gc", "generation", "reason", "heap_bytes", "fragmentation_bytes", "gen0_bytes", "gen1_bytes", "gen2_bytes", "loh_bytes", "poh_bytes",
	"committed_bytes", "budget_bytes", "memory_load_pct", "promoted_bytes", "allocatable_bytes", "oom_attempt_gc",
	"heap_resident_min_bytes", "heap_resident_max_bytes", "heap_committed_bytes",
}

// AppendJSON appends the record as a JSON object: its time and all figures,
// null if unknown.
func (r *Record) AppendJSON(b []byte) []byte {
	b = append(b, `{"time":"`...)
	b = r.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	figures := r.figures()
	figure := func(name string, v gc.Opt[int64]) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		if n, known := v.Get(); known {
			b = strconv.AppendInt(b, n, 10)
		} else {
			b = append(b, "null"...)
		}
	}
	for i, f := range figures {
		figure(names[i], *f)
	}
	var least, most, exact gc.Opt[int64]
	if native, known := r.Native().Get(); known {
		least, most, exact = gc.Some(native.Least), gc.Some(native.Most), native.Exact()
	}
	figure("native_bytes", exact)
	figure("native_min_bytes", least)
	figure("native_max_bytes", most)
	return append(b, '}')
}

// A version is a version of the format of ledgers.
type version struct {
	magic      string
	figures    int  // of a record
	recordSize int  // in bytes: time, figures, number, room for more, and a checksum
	numbers    bool // the records have numbers, and the header's checksum covers all of it
}

const (
	numFigures = 34
	recordSize = 320
	crcSize    = 4
)

// versions lists the versions that can be read; the first is written.
var versions = [...]version{
	{"GCTRLDG3", numFigures, recordSize, true},
	{"GCTRLDG2", numFigures, recordSize, false},
	{"GCTRLDG1", 29, 256, false},
}

// headerSum returns the checksum of a header with a text.
func (v *version) headerSum(b, text []byte) uint32 {
	if !v.numbers {
		return crc32.ChecksumIEEE(text)
	}
	return crc32.Update(crc32.ChecksumIEEE(b[:12]), crc32.IEEETable, b[16:headerSize])
}

// unknown stands for a figure that is not known.
const unknown = math.MinInt64

// A numbered is a record with its number in the ledger, from 1 on; 0 in versions without
// numbers.
type numbered struct {
	Record
	number int64
}

// encode writes the record: its time, its figures, its number, and a checksum.
func (r *Record) encode(b *[recordSize]byte, number int64) {
	binary.LittleEndian.PutUint64(b[:], uint64(r.Time.UnixNano()))
	for i, f := range r.figures() {
		binary.LittleEndian.PutUint64(b[8*(i+1):], uint64(f.Or(unknown)))
	}
	binary.LittleEndian.PutUint64(b[8*(numFigures+1):], uint64(number))
	const crcAt = recordSize - crcSize
	binary.LittleEndian.PutUint32(b[crcAt:], crc32.ChecksumIEEE(b[:crcAt]))
}

// decode reads a record of a version, and reports whether there is one.
func (r *numbered) decode(b []byte, v *version) bool {
	nanoseconds, crcAt := int64(binary.LittleEndian.Uint64(b)), v.recordSize-crcSize
	if nanoseconds <= 0 || binary.LittleEndian.Uint32(b[crcAt:]) != crc32.ChecksumIEEE(b[:crcAt]) {
		return false
	}
	r.Time = time.Unix(0, nanoseconds)
	figures := r.figures()
	for i, f := range figures[:v.figures] {
		if v := int64(binary.LittleEndian.Uint64(b[8*(i+1):])); v != unknown {
			*f = gc.Some(v)
		}
	}
	if v.numbers {
		r.number = int64(binary.LittleEndian.Uint64(b[8*(v.figures+1):]))
	}
	return true
}
