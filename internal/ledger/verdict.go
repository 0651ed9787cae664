package ledger

import (
	"time"

	"github.com/gctrail/gctrail/gc"
)

// A Cause is how a process ended.
type Cause string

const (
	Running     Cause = ""              // it has not ended, as far as the ledger knows
	Exited      Cause = "exited"        // its runtime shut down
	Killed      Cause = "killed"        // it ended without that: by a signal, or by a failure of its own
	OOMKilled   Cause = "oom_killed"    // the kernel killed it because memory ran out
	OutOfMemory Cause = "out_of_memory" // it ended after the GC's last attempt before an OutOfMemoryException
)

// A Part is a part of a process's memory.
type Part string

const (
	Neither Part = "" // unknown, or about the same
	Heap    Part = "heap"
	Native  Part = "native"
)

// A Verdict states how a process ended.
type Verdict struct {
	Cause    Cause
	Memory   Part   // that grew, or, where none did, is the larger; Neither where the records do not decide it
	Sentence string // all of it in words
	Last     *Record
	Native   gc.Opt[Bounds] // of resident memory outside the GC heap

	mayBeKill  bool // by SIGKILL, the kernel's signal
	mayBeAbort bool // by SIGABRT, that of the runtime
}

const (
	// significant is the share of resident memory below which growth, or a difference
	// between the parts, is ignored.
	significant = 0.1
	// nearLimit is the use of a limit at which a process may have ended because of it.
	nearLimit = 0.9
	// attemptAge is the time between the last attempt before an OutOfMemoryException and the
	// end of the process, above which it may have caught the exception and ended for another
	// reason. Writing a crash dump takes seconds.
	attemptAge = 10 * time.Second
)

// Judge returns the verdict on the end of the ledger's process.
func (l *Ledger) Judge() Verdict {
	v := Verdict{Cause: l.cause()}
	by := func(signal int) bool { return l.End != nil && (l.End.Signal == 0 || l.End.Signal == signal) }
	v.mayBeKill, v.mayBeAbort = by(sigKill), by(sigAbort)
	last := len(l.Records) - 1
	for last >= 0 && !l.Records[last].RSS.Known() {
		last--
	}
	if last < 0 {
		v.Sentence = l.ended(&v) + ": the ledger has no record of its memory" + l.butLost()
		return v
	}
	v.Last = &l.Records[last]
	v.Native = l.native(last)
	var in doubt
	switch {
	case v.heapFull():
		v.Memory = Heap // even if little of it is resident: large arrays that were never written to are not
	case v.Cause != OutOfMemory:
		v.Memory, in = l.grown(&v, last)
	}
	v.Sentence = l.sentence(&v, in) + l.butLost()
	return v
}

func (l *Ledger) cause() Cause {
	switch {
	case l.End == nil:
		return Running
	case l.End.Closed:
		return Exited
	case l.End.OOMKills > 0:
		return OOMKilled
	case l.End.Signal != sigKill && l.End.Signal != sigTerminate && l.attempted() != 0:
		return OutOfMemory
	}
	return Killed
}

// attempted returns the number of the process's last collection if that was the last attempt
// before an OutOfMemoryException, shortly before the end, and zero otherwise.
func (l *Ledger) attempted() int64 {
	n := len(l.Records)
	if n == 0 {
		return 0
	}
	attempt, known := l.Records[n-1].OOMAttempt.Get()
	if !known || l.Records[n-1].GC.Or(0) > attempt {
		return 0
	}
	for i := range l.Records {
		if r := &l.Records[i]; r.OOMAttempt == gc.Some(attempt) {
			if l.End.Time.Sub(r.Time) > attemptAge {
				return 0
			}
			break
		}
	}
	return attempt
}

// A doubt holds the sizes that keep the records from deciding which part of the memory
// grew, in bytes.
type doubt struct {
	exists    bool
	allocated int64 // since the latest collection, at most, in the heap or not
	unseen    int64 // since the last record, at most
}

// native returns the bounds of a record's memory outside the GC heap. The collections of
// the records next to it count too, because events arrive late.
func (l *Ledger) native(i int) gc.Opt[Bounds] {
	r := &l.Records[i]
	b, known := r.Native().Get()
	for _, beside := range [...]int{i - 1, i + 1} {
		if beside < 0 || beside >= len(l.Records) {
			continue
		}
		other, too := r.nativeAfter(&l.Records[beside]).Get()
		switch {
		case known && too:
			b = Bounds{min(b.Least, other.Least), max(b.Most, other.Most)}
		case too:
			b, known = other, true
		}
	}
	return gc.SomeIf(b, known)
}

// grown returns the part of the memory that grew more until the end, where one of the last
// records decides it; where neither grew, the larger.
//
// The events of collections reach the ledger some 100 ms after they were raised, or never if
// the process is killed. So the last record decides only with the heap that was read from
// the system; otherwise the one before, whose collections are known.
func (l *Ledger) grown(v *Verdict, last int) (Part, doubt) {
	var in doubt
	for i, tries := last, 0; i >= 0 && tries < deciding; i-- {
		r := &l.Records[i]
		if !l.native(i).Known() || i == len(l.Records)-1 && v.Cause != Running && !r.HeapMost.Known() {
			continue
		}
		tries++
		part, doubt := l.grownUntil(v, i)
		if !doubt.exists {
			return part, doubt
		}
		if !in.exists {
			in = doubt
		}
	}
	return Neither, in
}

// deciding is how many of the last records may decide which part grew. Growth that a
// record does not show counts as unseen.
const deciding = 2

// grownUntil returns the part of the memory that grew more until a record.
func (l *Ledger) grownUntil(v *Verdict, until int) (Part, doubt) {
	last, native := &l.Records[until], l.native(until).Or(Unbounded)
	rss := last.RSS.Or(0)
	s := split{total: rss, native: native, unseen: v.unseen(last), heap: v.heapUnseen(last), least: int64(significant * float64(rss))}
	if first := l.first(until); first >= 0 {
		before := l.native(first).Or(Unbounded)
		growth := split{
			total: rss - l.Records[first].RSS.Or(0), native: Bounds{native.Least - before.Most, native.Most - before.Least},
			unseen: s.unseen, heap: s.heap, least: s.least,
		}
		if growth.any() {
			s = growth
		}
	}
	part, certain := s.larger()
	if certain {
		return part, doubt{}
	}
	return Neither, doubt{true, s.native.Most - s.native.Least, s.unseen}
}

// first returns the index of the record from which growth up to another is measured: the
// first whose heap was read from the system, or else the first whose native memory is
// known. It is negative if there is none.
func (l *Ledger) first(until int) int {
	first := -1
	for i := range until {
		known := l.native(i).Known()
		switch {
		case known && l.Records[i].HeapMost.Known():
			return i
		case known && first < 0:
			first = i
		}
	}
	return first
}

// A split is an amount of memory and its native part, in bytes.
type split struct {
	total  int64
	native Bounds
	unseen int64 // more, at most, of an unknown part
	heap   int64 // more, at most, of the heap
	least  int64 // difference that counts
}

// any reports whether there is enough to be split.
func (s *split) any() bool {
	return max(s.total, s.native.Least, s.total-s.native.Most, s.unseen, s.heap) >= s.least
}

// larger returns the larger part, Neither if they differ too little, and whether that is
// certain.
func (s *split) larger() (Part, bool) {
	heapLead := s.total - 2*s.native.Most - s.unseen             // at least
	nativeLead := 2*s.native.Least - s.total - s.unseen - s.heap // at least
	switch {
	case heapLead >= s.least:
		return Heap, true
	case nativeLead >= s.least:
		return Native, true
	}
	mostHeap, mostNative := -nativeLead, -heapLead
	return Neither, mostHeap < s.least && mostNative < s.least
}

// unseen returns how much the process may have grown after a record: at least by as much
// as the last record shows. A process that was killed for a limit grew further, by no
// more than the rest of it.
func (v *Verdict) unseen(r *Record) int64 {
	grown := max(0, v.Last.RSS.Or(0)-r.RSS.Or(0))
	if !v.atLimit() {
		return grown
	}
	if limit, known := r.Limit.Get(); known {
		return max(grown, limit-r.Anon.Or(r.RSS.Or(0)))
	}
	return max(grown, r.Available.Or(0))
}

// heapUnseen returns how much the GC heap may have grown after a record until it was full,
// in a process that an OutOfMemoryException may have ended.
func (v *Verdict) heapUnseen(r *Record) int64 {
	if v.Cause != Killed || !v.mayBeAbort || v.atLimit() {
		return 0
	}
	return max(0, r.HardLimit.Or(r.committed())-r.HeapLeast.Or(r.small()))
}

// atLimit reports whether memory is, or may be, the reason why the process was killed.
func (v *Verdict) atLimit() bool {
	return v.Cause == OOMKilled || v.Cause == Killed && v.mayBeKill && near(v.Last.Used, v.Last.Limit)
}

// heapFull reports whether the GC heap was, or may have been, at its limit when an
// OutOfMemoryException ended the process.
func (v *Verdict) heapFull() bool {
	return (v.Cause == OutOfMemory || v.Cause == Killed && v.mayBeAbort) && near(gc.Some(v.Last.committed()), v.Last.HardLimit)
}

// committed returns the memory committed for the GC heap, read in this second or at the
// latest collection.
func (r *Record) committed() int64 { return max(r.HeapCommitted.Or(0), r.Committed.Or(0)) }

// near reports whether a limit is almost used up.
func near(used, limit gc.Opt[int64]) bool {
	most, known := limit.Get()
	return known && used.Known() && float64(used.Or(0)) >= nearLimit*float64(most)
}
