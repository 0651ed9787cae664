package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// maxNamed is how many processes Outside names.
const maxNamed = 5

// Outside returns which processes, or which time, a trace has if a selection has none
// of them; otherwise it is empty. The trace was read to its end.
func Outside(o *selection.Selection, info *trace.Info, processes []*gc.Process) string {
	switch {
	case len(processes) > 0 && !slices.ContainsFunc(processes, o.HasProcess):
		return "the trace has " + processNames(processes)
	case !o.Overlaps(info):
		return fmt.Sprintf("the trace is %s long, from %s", units.Duration(info.Last), began(info))
	}
	return ""
}

// Named returns the processes that a trace names.
func Named(info *trace.Info) []*gc.Process {
	if len(info.Processes) == 0 && info.PID != trace.UnknownID {
		return []*gc.Process{{PID: info.PID}}
	}
	pids := slices.Sorted(maps.Keys(info.Processes))
	return text.Each(pids, func(pid *uint64) *gc.Process { return &gc.Process{PID: *pid, Name: info.Processes[*pid].Name} })
}

// processNames returns the names of the first processes, and how many others there are.
func processNames(processes []*gc.Process) string {
	var names []string
	for _, p := range processes[:min(len(processes), maxNamed)] {
		names = append(names, processName(p))
	}
	if more := len(processes) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
