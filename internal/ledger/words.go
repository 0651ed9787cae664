package ledger

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// ended describes how the process ended.
func (l *Ledger) ended(v *Verdict) string {
	switch v.Cause {
	case Exited:
		return "exited"
	case OOMKilled:
		return "killed by the kernel (out of memory)"
	case OutOfMemory:
		return fmt.Sprintf("ended without shutting down, after the last attempt before an OutOfMemoryException (GC %d),", l.attempted())
	case Killed:
		return "ended without shutting down" + signalWords[l.End.Signal]
	}
	return "running"
}

// The numbers of signals, which Linux and macOS have in common. A ledger may be of another
// system than the one that reads it.
const (
	sigAbort     = 6
	sigKill      = 9
	sigSegFault  = 11
	sigTerminate = 15
)

// signalWords name the signals that end programs.
var signalWords = map[int]string{
	sigAbort:     ", by SIGABRT (an unhandled exception or FailFast)",
	sigKill:      ", by SIGKILL",
	sigTerminate: ", by SIGTERM",
	sigSegFault:  ", by SIGSEGV",
}

func (l *Ledger) sentence(v *Verdict, in doubt) string {
	r := v.Last
	s := l.ended(v) + " at " + units.Bytes(r.RSS.Or(0)) + " resident"
	if limit, known := r.Limit.Get(); known {
		s += fmt.Sprintf(", %s of the container's limit of %s used", optional(r.Used), units.Bytes(limit))
		if v.Cause == Killed && v.atLimit() {
			s += " (it may have been killed for that)"
		}
	}
	if native, known := v.Native.Get(); known {
		s += ": " + heapWords(r) + ", native " + native.words() + v.limitWords()
	} else if v.Memory == Neither {
		return s + "; the size of the GC heap at that time is unknown"
	}
	if !v.atLimit() {
		return s // memory is not known to be the cause
	}
	switch {
	case in.exists:
		return s + ": cannot tell which of them is the cause" + in.words()
	case v.Memory == Heap:
		return s + ": the GC heap is the cause"
	case v.Memory == Native:
		return s + ": the GC is not the cause"
	}
	return s + ": neither stands out"
}

// Loss describes the records that cannot be read; empty if all can.
func (l *Ledger) Loss() string {
	var losses []string
	switch {
	case l.Lost == 1:
		losses = append(losses, "1 record of the last minutes is damaged or missing")
	case l.Lost > 1:
		losses = append(losses, units.Count(int64(l.Lost))+" records of the last minutes are damaged or missing")
	}
	if l.Cut {
		losses = append(losses, "the file is truncated")
	}
	return strings.Join(losses, ", and ")
}

// butLost returns Loss as the end of a sentence.
func (l *Ledger) butLost() string {
	if loss := l.Loss(); loss != "" {
		return "; " + loss
	}
	return ""
}

func optional(v gc.Opt[int64]) string {
	n, known := v.Get()
	if !known {
		return "an unknown part"
	}
	return units.Bytes(n)
}

// heapWords describes the size of the GC heap.
func heapWords(r *Record) string {
	var after string
	if r.Heap.Known() {
		after = units.Bytes(r.Heap.Or(0)) + " after the latest GC"
	}
	switch {
	case r.HeapMost.Known():
		words := "GC heap " + units.Bytes(r.HeapMost.Or(0)) + " resident"
		if after != "" {
			words += " (" + after + ")"
		}
		return words
	case after == "":
		after = "of an unknown size"
	}
	return fmt.Sprintf("GC heap %s (%s committed)", after, units.Bytes(r.Committed.Or(0)))
}

// words returns the bounds as a size, or a range of sizes.
func (b Bounds) words() string {
	switch exact, known := b.Exact().Get(); {
	case known:
		return units.Bytes(exact)
	case b.Least <= 0:
		return "up to " + units.Bytes(b.Most)
	}
	return units.Bytes(b.Least) + " to " + units.Bytes(b.Most)
}

// MB formats the bounds for a column of MB: the size, or > and its lower bound.
func (b Bounds) MB() string {
	switch exact, known := b.Exact().Get(); {
	case known:
		return units.MB(exact)
	case b.Least <= 0:
		return units.Unknown
	}
	return ">" + units.MB(b.Least)
}

// limitWords describes how full the GC heap's limit was, if that may have ended the
// process.
func (v *Verdict) limitWords() string {
	if !v.heapFull() {
		return ""
	}
	words := fmt.Sprintf("; %s of the GC heap's limit of %s were committed", units.Bytes(v.Last.committed()), units.Bytes(v.Last.HardLimit.Or(0)))
	if v.Cause == Killed {
		words += " (an OutOfMemoryException may have ended it)"
	}
	return words
}

// words describes the sizes that are not known.
func (d doubt) words() string {
	var unknown []string
	if d.allocated > 0 {
		unknown = append(unknown, fmt.Sprintf("up to %s may be heap or native, such as objects allocated since the latest GC", units.Bytes(d.allocated)))
	}
	if d.unseen > 0 {
		unknown = append(unknown, fmt.Sprintf("up to %s came after the last record", units.Bytes(d.unseen)))
	}
	return ": " + strings.Join(unknown, ", and ")
}
