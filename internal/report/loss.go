package report

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// clauses are the parts of a sentence.
type clauses []string

// add adds a clause if it applies. Its words are made in any case.
func (c *clauses) add(applies bool, words string) {
	if applies {
		*c = append(*c, words)
	}
}

// isFolder reports whether a trace consists of the files of a folder, as LTTng's do.
func isFolder(in *open.Input) bool { return trace.TracerOf(in.Source.Info().Format) == trace.LTTng }

// Missing describes the loss of a trace that was read to its end, and which collections
// that leaves incomplete. It is empty if nothing is missing.
func Missing(in *open.Input, incomplete []uint32) string {
	var parts clauses
	loss := in.Source.Loss()
	_, merged := in.Source.(*trace.Merged)
	switch {
	case loss.Truncated && in.Size > 0 && in.Compression == "" && !merged && !isFolder(in):
		parts = append(parts, "the file is truncated at byte "+units.Count(in.Size))
	case loss.Truncated:
		parts = append(parts, "the trace is truncated")
	}
	parts.add(loss.Dropped() > 0, lost(loss, "event was", "events were"))
	parts.add(loss.LeftOut > 0, leftOut(loss))
	parts.add(unexplained(loss), "an unknown number of events is missing")
	parts.add(loss.StreamsUnknown, "files of other processors may be missing")
	if loss.Damaged > 0 { // only then can the words be made
		parts = append(parts, Unreadable(loss))
	}
	parts.add(loss.Late > 0, text.Plural(int64(loss.Late), "event is", "events are")+" not in time order")
	if len(parts) > 0 && len(incomplete) > 0 {
		parts = append(parts, incompleteText(incomplete))
	}
	return strings.Join(parts, "; ")
}

// leftOut says which events are in the trace, and not in the figures.
func leftOut(l *trace.Loss) string {
	return fmt.Sprintf("%s left out, of processes after the first %s", text.Plural(int64(l.LeftOut), "event", "events"), units.Count(gc.MaxProcesses))
}

// Unreadable says how many places of a trace could not be read, of which there is one at
// least, and where the first is.
func Unreadable(l *trace.Loss) string {
	return fmt.Sprintf("%s not be read, the first at byte %s",
		text.Plural(int64(l.Damaged), "place could", "places could"), firstDamage(&l.Damage[0]))
}

// firstDamage says where damage is, with the file if a trace has several, and with the reason if
// not the trace is damaged, but what it is packed or stored in.
func firstDamage(d *trace.Damage) string {
	at := units.Count(d.Off)
	if d.File != "" {
		at += " of " + d.File
	}
	if format := (*trace.FormatError)(nil); errors.As(d.Err, &format) {
		return at
	}
	return fmt.Sprintf("%s (%v)", at, d.Err)
}

// unexplained reports whether events are known to be missing, and nothing else says why:
// packets or buffers are gone, or other events imply them.
func unexplained(l *trace.Loss) bool {
	return l.Events == 0 && !l.Truncated && l.Damaged == 0 && l.Late == 0 && len(l.Ranges()) > 0
}

// Unmerged describes conflicts between traces that are read as one; m may be nil.
func Unmerged(m *trace.Merged) string {
	if m == nil {
		return ""
	}
	var parts []string
	if m.Disjoint() {
		parts = append(parts, "the traces were not taken at the same time, or their clocks disagree")
	}
	var events uint64
	var pids []string
	for _, pid := range slices.Sorted(maps.Keys(m.Excluded())) {
		events += m.Excluded()[pid]
		pids = append(pids, strconv.FormatUint(pid, 10))
	}
	if events > 0 {
		parts = append(parts, fmt.Sprintf("process %s is in more than one of the files: %s of the later ones left out",
			strings.Join(pids, ", "), text.Plural(int64(events), "event", "events")))
	}
	return strings.Join(parts, "; ")
}

// Beside returns which files beside a trace are read with it, and which are not although they
// are named as if they should. Perf maps are read at the end of the trace.
func Beside(in *open.Input) string {
	var parts clauses
	parts.add(len(in.Companions) > 0, "read together with "+strings.Join(in.Companions, ", "))
	parts.add(len(in.Foreign) > 0, "not read, because unreadable, already included or from another recording: "+strings.Join(in.Foreign, ", "))
	parts.add(len(in.PerfMaps) > 0, "methods named by "+strings.Join(in.PerfMaps, ", "))
	return strings.Join(parts, "; ")
}

// incompleteText names the collections, the lowest and the highest number if they are
// many, because collections of several processes are not in the order of number.
func incompleteText(numbers []uint32) string {
	first, last := slices.Min(numbers), slices.Max(numbers)
	switch n := len(numbers); {
	case n == 1:
		return fmt.Sprintf("collection %d is incomplete", last)
	case n == 2:
		return fmt.Sprintf("collections %d and %d are incomplete", first, last)
	default:
		return fmt.Sprintf("%d collections between %d and %d are incomplete", n, first, last)
	}
}
