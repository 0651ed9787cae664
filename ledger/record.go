package ledger

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strconv"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Record is what was known of a process in one second. Sizes are in bytes. What
// collections measured is of the latest; it may lie in an earlier second.
type Record struct {
	Time time.Time

	RSS, Anon, File, Shared, Swap gc.Opt[int64] // resident, its parts, and what is swapped out
	PSS, Private                  gc.Opt[int64] // read every five minutes
	Used, Limit                   gc.Opt[int64] // of the cgroup whose limit is the lowest
	OOMKills                      gc.Opt[int64] // in the process's cgroup, ever
	Available                     gc.Opt[int64] // of the machine's memory

	HardLimit gc.Opt[int64] // of the GC heap

	Collections gc.Opt[int64] // in this second
	Paused      gc.Opt[int64] // nanoseconds, in this second
	Longest     gc.Opt[int64] // pause in this second, in nanoseconds

	GC, Generation, Reason   gc.Opt[int64] // number of the latest collection, what it collected and why
	Heap, Fragmentation      gc.Opt[int64] // after it; free space in it
	Gen0, Gen1, Gen2         gc.Opt[int64]
	LOH, POH                 gc.Opt[int64]
	Committed, Budget        gc.Opt[int64]
	MemoryLoad, PromotedSize gc.Opt[int64] // percent; bytes
}

// StartSecond begins the record of another second: what was counted in the one
// before is zero again, the rest stays.
func (r *Record) StartSecond(now time.Time) {
	r.Time = now
	r.Collections, r.Paused, r.Longest = gc.Some(int64(0)), gc.Some(int64(0)), gc.Some(int64(0))
}

// Native returns what is resident beyond what is committed for the GC heap. Memory that
// is committed and was never touched is not resident: then the true figure is larger.
func (r *Record) Native() gc.Opt[int64] {
	rss, known := r.RSS.Get()
	committed, measured := r.Committed.Get()
	if !known || !measured {
		return gc.Opt[int64]{}
	}
	return gc.Some(max(0, rss-committed))
}

// figures are the figures of a record, in the order of the file.
func (r *Record) figures() [numFigures]*gc.Opt[int64] {
	return [numFigures]*gc.Opt[int64]{
		&r.RSS, &r.Anon, &r.File, &r.Shared, &r.Swap, &r.PSS, &r.Private, &r.Used, &r.Limit, &r.OOMKills, &r.Available,
		&r.HardLimit, &r.Collections, &r.Paused, &r.Longest, &r.GC, &r.Generation, &r.Reason, &r.Heap, &r.Fragmentation,
		&r.Gen0, &r.Gen1, &r.Gen2, &r.LOH, &r.POH, &r.Committed, &r.Budget, &r.MemoryLoad, &r.PromotedSize,
	}
}

// names are those of the figures in JSON.
var names = [numFigures]string{
	"rss_bytes", "anon_bytes", "file_bytes", "shared_bytes", "swap_bytes", "pss_bytes", "private_bytes", "cgroup_used_bytes",
	"cgroup_limit_bytes", "cgroup_oom_kills", "available_bytes", "hard_limit_bytes", "collections", "paused_ns", "longest_pause_ns",
	"gc", "generation", "reason", "heap_bytes", "fragmentation_bytes", "gen0_bytes", "gen1_bytes", "gen2_bytes", "loh_bytes", "poh_bytes",
	"committed_bytes", "budget_bytes", "memory_load_pct", "promoted_bytes",
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
	figure("native_bytes", r.Native())
	return append(b, '}')
}

const (
	numFigures = 29
	// recordSize leaves room for two more figures.
	recordSize = 256
	crcAt      = recordSize - 4
)

// unknown stands for a figure that is not known.
const unknown = math.MinInt64

// encode writes the record: its time, its figures, and a checksum.
func (r *Record) encode(b *[recordSize]byte) {
	binary.LittleEndian.PutUint64(b[:], uint64(r.Time.UnixNano()))
	for i, f := range r.figures() {
		binary.LittleEndian.PutUint64(b[8*(i+1):], uint64(f.Or(unknown)))
	}
	binary.LittleEndian.PutUint32(b[crcAt:], crc32.ChecksumIEEE(b[:crcAt]))
}

// decode reads a record, and reports whether there is one.
func (r *Record) decode(b []byte) bool {
	nanoseconds := int64(binary.LittleEndian.Uint64(b))
	if nanoseconds <= 0 || binary.LittleEndian.Uint32(b[crcAt:]) != crc32.ChecksumIEEE(b[:crcAt]) {
		return false
	}
	r.Time = time.Unix(0, nanoseconds)
	for i, f := range r.figures() {
		if v := int64(binary.LittleEndian.Uint64(b[8*(i+1):])); v != unknown {
			*f = gc.Some(v)
		}
	}
	return true
}
