package ledger

import (
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A Cause is how a process ended.
type Cause string

const (
	Running   Cause = ""           // it has not ended, as far as the ledger knows
	Exited    Cause = "exited"     // its runtime shut down
	Killed    Cause = "killed"     // it ended without that: by a signal, or by a failure of its own
	OOMKilled Cause = "oom_killed" // the kernel killed it because memory ran out
)

// A Part is a part of a process's memory.
type Part string

const (
	Neither Part = "" // unknown, or about the same
	Heap    Part = "heap"
	Native  Part = "native"
)

// A Verdict is what a process died with.
type Verdict struct {
	Cause    Cause
	Memory   Part   // that grew, or, where none did, is the larger
	Sentence string // all of it in words
	Last     *Record
	Native   gc.Opt[int64] // bytes resident outside the GC heap
}

// significant is the growth, and the difference between the parts, below which
// they tell nothing: a part of what is resident.
const significant = 0.1

// nearLimit is the use of a limit at which a process may have been killed for it.
const nearLimit = 0.9

// Judge returns what the ledger says of the end of its process.
func (l *Ledger) Judge() Verdict {
	v := Verdict{Cause: l.cause()}
	for i := range l.Records {
		if l.Records[i].RSS.Known() {
			v.Last = &l.Records[i]
		}
	}
	if v.Last == nil {
		v.Sentence = v.ended() + ": the ledger has no record of its memory"
		return v
	}
	v.Native = v.Last.Native()
	v.Memory = l.grown(v.Last)
	v.Sentence = v.sentence()
	return v
}

func (l *Ledger) cause() Cause {
	switch {
	case l.End == nil:
		return Running
	case l.End.OOMKills > 0 && !l.End.Closed:
		return OOMKilled
	case l.End.Closed:
		return Exited
	}
	return Killed
}

// grown returns the part of the memory that grew more until a record; where neither
// grew, the larger.
func (l *Ledger) grown(last *Record) Part {
	native, known := last.Native().Get()
	if !known {
		return Neither
	}
	committed, least := last.Committed.Or(0), int64(significant*float64(last.RSS.Or(0)))
	for i := range l.Records {
		first := &l.Records[i]
		before, known := first.Native().Get()
		if !known {
			continue
		}
		heapGrowth, nativeGrowth := committed-first.Committed.Or(0), native-before
		if max(heapGrowth, nativeGrowth) >= least {
			return larger(heapGrowth, nativeGrowth, least)
		}
		break
	}
	return larger(min(committed, last.RSS.Or(0)), native, least)
}

func larger(heap, native, least int64) Part {
	switch {
	case heap >= native+least:
		return Heap
	case native >= heap+least:
		return Native
	}
	return Neither
}

// ended are the words for how the process ended.
func (v *Verdict) ended() string {
	switch v.Cause {
	case Exited:
		return "exited"
	case OOMKilled:
		return "killed by the kernel (out of memory)"
	case Killed:
		return "ended without shutting down"
	}
	return "running"
}

func (v *Verdict) sentence() string {
	r, short := v.Last, v.Cause == OOMKilled
	s := v.ended() + " at " + units.Bytes(r.RSS.Or(0)) + " resident"
	if limit, known := r.Limit.Get(); known {
		used := r.Used.Or(0)
		s += fmt.Sprintf(", %s of the container's limit of %s used", units.Bytes(used), units.Bytes(limit))
		if v.Cause == Killed && float64(used) >= nearLimit*float64(limit) {
			s += " (it may have been killed for that)"
			short = true
		}
	}
	native, known := v.Native.Get()
	if !known {
		return s + "; no collection has measured the GC heap"
	}
	s += fmt.Sprintf(": GC heap %s (%s committed), native %s", units.Bytes(r.Heap.Or(0)), units.Bytes(r.Committed.Or(0)), units.Bytes(native))
	if !short {
		return s // memory is not known to be the cause
	}
	switch v.Memory {
	case Heap:
		return s + ": the GC heap is the cause"
	case Native:
		return s + ": the GC is not the cause"
	}
	return s + ": neither stands out"
}
