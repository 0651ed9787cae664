package agent

import (
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/proc"
)

const (
	// heapPace is the time between readings of the heap for each resident GB, because each
	// takes the kernel some 30 ms.
	heapPace = time.Second
	// heapAge is how long a reading of the heap stays valid, unless resident memory changes
	// by heapChange.
	heapAge    = time.Second
	heapChange = 0.02
	// findTime limits each search for the heap of a process, because a program that has
	// just started may not have one.
	findTime = 10 * time.Second
)

// A heapReader reads how much of the GC heap is resident. It exists because the system
// can report that at any time, whereas collections measure the heap only when they end.
type heapReader struct {
	found  bool
	latest proc.Heap // unknown if it no longer holds
	rss    int64     // when it was read
	at     time.Time
}

// readHeap reads the GC heap of a process: at first, every minute, and as long as the
// process grows, or is near its limit, because it may soon be killed for it.
func (m *memory) readHeap(s *proc.MemorySample, hot, anew bool, now time.Time) {
	h := &m.heap
	if !h.found && (anew || now.Sub(m.began) < findTime) {
		h.found = m.reader.FindHeap(m.heapLimit.ranges(s.Limit)...)
	}
	rss := s.RSS.Or(0)
	change := max(rss-h.rss, h.rss-rss)
	if h.at.IsZero() || now.Sub(h.at) >= heapAge || float64(change) >= heapChange*float64(rss) {
		due := anew || hot || h.at.IsZero()
		h.latest = proc.Heap{}
		if h.found && due && now.Sub(h.at).Seconds() >= heapPace.Seconds()*float64(rss)/1e9 {
			// The process runs on, and reading its heap may take long on a busy machine.
			h.latest = m.reader.ReadHeap()
			if later, known := m.reader.RSS().Get(); known {
				h.latest = h.latest.Before(later - rss)
			} else {
				h.latest = proc.Heap{}
			}
			h.rss, h.at = rss, now
		}
	}
}

// ranges returns the possible sizes of the address range of the GC heap: five times the
// limit of the heap, or without one 256 GB or twice the machine's memory. See gc.cpp,
// GCHeap::Initialize.
func (l *heapLimit) ranges(container gc.Opt[int64]) []int64 {
	const unlimited, ofLimit, ofMachine = 256 << 30, 5, 2
	sizes := []int64{unlimited, ofMachine * proc.Total().Or(0)}
	if limit, known := l.in(container).Get(); known {
		sizes = append(sizes, ofLimit*limit)
	}
	return sizes
}

// killWindow bounds the time from the kill of a process to its visible end. It is not
// zero, because its figures can still be read while the kernel frees its memory.
const killWindow = time.Second

// A killRise is the latest rise of a cgroup's OOM kills.
type killRise struct {
	kills int64
	at    time.Time
}

func (k *killRise) seen(before, now gc.Opt[int64], at time.Time) {
	if before.Known() && now.Or(0) > before.Or(0) {
		*k = killRise{now.Or(0) - before.Or(0), at}
	}
}

// before returns the number of kills shortly before a process's end.
func (k *killRise) before(end time.Time) int64 {
	if end.Sub(k.at) > killWindow {
		return 0
	}
	return k.kills
}
