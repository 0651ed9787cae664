package ctf

import (
	"slices"
	"strings"

	"github.com/gctrail/gctrail/trace"
)

// A processorSet has the processors whose files one stream class of a trace has.
type processorSet struct {
	host    string
	lttng   bool
	kernel  bool // has files only of processors that are online
	cpus    map[uint32]bool
	highest uint32
}

// processorSets returns the processors of each stream class that records by processor.
func processorSets(files []*file) (sets []*processorSet) {
	type class struct {
		trace [16]byte
		class uint64
	}
	of := map[class]*processorSet{}
	for _, f := range files {
		if f.key.alone != "" || f.first.cpu == trace.UnknownCPU {
			continue
		}
		c := class{f.key.trace, f.key.class}
		s := of[c]
		if s == nil {
			env := f.member.meta.Env
			s = &processorSet{host: env["hostname"], lttng: strings.HasPrefix(env["tracer_name"], "lttng"), kernel: env["domain"] == "kernel", cpus: map[uint32]bool{}}
			of[c] = s
			sets = append(sets, s)
		}
		s.cpus[f.first.cpu] = true
		s.highest = max(s.highest, f.first.cpu)
	}
	return sets
}

// processors records a loss if files of processors seem to be missing. LTTng makes one
// for each processor of the machine, but a trace does not contain their number, so the
// files of its stream classes are compared with each other.
func (m *merger) processors(files []*file) {
	sets := processorSets(files)
	for _, s := range sets {
		switch {
		case uint64(len(s.cpus)) <= uint64(s.highest): // none of one with a lower number
			m.uncounted, m.loss.StreamsUnknown = true, true
		case !s.lttng || s.kernel:
		case s.lacks(sets):
			m.uncounted, m.loss.StreamsUnknown = true, true
		case len(s.cpus)%2 == 1 && !m.idle && !s.confirmed(sets):
			// Assume a loss, because few machines have an odd number of processors. If
			// there are several files, gaps in the numbers of collections show what a
			// missing one had.
			m.uncounted, m.loss.StreamsUnknown = true, m.loss.StreamsUnknown || len(s.cpus) == 1
		}
	}
}

// lacks reports whether another stream class of the same machine has files of more
// processors.
func (s *processorSet) lacks(sets []*processorSet) bool {
	return slices.ContainsFunc(sets, func(o *processorSet) bool {
		return o.lttng && o.host == s.host && len(o.cpus) > len(s.cpus)
	})
}

// confirmed reports whether another stream class of the same machine, such as the kernel's,
// has files of the same processors.
func (s *processorSet) confirmed(sets []*processorSet) bool {
	return slices.ContainsFunc(sets, func(o *processorSet) bool {
		return o != s && o.lttng && o.host == s.host && len(o.cpus) == len(s.cpus)
	})
}
