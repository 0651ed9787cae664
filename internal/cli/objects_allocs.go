package cli

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// linkedTypes is how many types a line names that links allocations and heap snapshots.
const linkedTypes = 3

// readsAgain returns the line that runs another command on the same traces.
func readsAgain(command string, paths []string) string {
	args := []string{command}
	if len(paths) > 1 {
		args = append(args, "--merge")
	}
	return commandLine(append(args, paths...))
}

// largestAllocated returns the largest rows of the allocations of a process by type, and the
// bytes of all. Rows without the name of a type are left out.
func largestAllocated(m *alloc.Model, pid uint64) (rows []alloc.Row, all int64) {
	for _, r := range m.Rows(pid, m.BestSource(pid), alloc.ByType) {
		all += r.Bytes
		if r.Type != "" && r.Type != alloc.OtherTypes && len(rows) < linkedTypes {
			rows = append(rows, r)
		}
	}
	return rows, all
}

// writeAllocated writes which types a process allocates most, in the head of its heap
// snapshots, unless the trace has no allocation events.
func (s *snapshotOf) writeAllocated(p *text.Page) {
	if s.allocs == nil {
		return
	}
	rows, all := largestAllocated(s.allocs, s.PID)
	if len(rows) == 0 {
		return
	}
	types := text.Each(rows, func(r *alloc.Row) string {
		return fmt.Sprintf("%s %s", units.Percent(100*float64(r.Bytes)/float64(max(1, all))), r.Type)
	})
	p.Prose("Allocated: ", fmt.Sprintf("~%s in the trace, of it %s. By type:", units.Bytes(all), strings.Join(types, ", ")))
	p.Command("  ", readsAgain("allocs", s.paths))
}

// writeSnapshot writes how many objects of the most allocated types the last heap snapshot of
// the process has, in the head of its allocations, unless the trace has none.
func writeSnapshot(p *text.Page, m *alloc.Model, snapshots []*heap.Snapshot, pid uint64, paths []string) {
	var last *heap.Snapshot
	for _, s := range snapshots {
		if s.PID == pid {
			last = s
		}
	}
	if last == nil {
		return
	}
	rows, _ := largestAllocated(m, pid)
	var types []string
	for i := range rows {
		var objects, bytes int64
		for _, t := range last.Types {
			if t.String() == rows[i].Type {
				objects += t.Objects
				bytes += t.Bytes
			}
		}
		types = append(types, fmt.Sprintf("%s × %s (%s)", units.Count(objects), rows[i].Type, units.Bytes(bytes)))
	}
	p.Prose("Snapshot: ", fmt.Sprintf("after %s, the heap had %s%s. What holds them:", last.Label(), last.About(), strings.Join(types, ", ")))
	p.Command("  ", readsAgain("objects", paths))
}
