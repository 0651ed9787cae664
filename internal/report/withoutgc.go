package report

import (
	"fmt"
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/text"
)

// nothingMissing reports whether the collections and ticks of all of the trace's time would
// be in it.
func (rep *Report) nothingMissing() bool {
	return !rep.narrowed && !rep.loss.Incomplete() && rep.provider(clr.RuntimeProvider).Keywords&clr.KeywordGC != 0
}

// WithoutGC returns the processes that had no GC in all of the recorded time, if all events
// of that time are there.
func (rep *Report) WithoutGC() []*gc.Process {
	if !rep.nothingMissing() {
		return nil
	}
	return rep.others
}

func (rep *Report) withoutGCJSON() []ProcessWithoutGC {
	return text.Each(rep.WithoutGC(), func(of **gc.Process) ProcessWithoutGC {
		sum := stats.AllocatedWithoutGC(*of)
		j := ProcessWithoutGC{PID: known((*of).PID), Name: filled((*of).Name), AllocatedMaxBytes: sum.Max()}
		j.AllocatedBytes, j.AllocatedIs = bytesJSON(sum)
		return j
	})
}

// writeWithoutGC writes the allocations of processes without GCs, as far as ticks count
// them.
func (rep *Report) writeWithoutGC(p *text.Page) {
	if !rep.nothingMissing() {
		return
	}
	counted := slices.DeleteFunc(slices.Clone(rep.others), func(of *gc.Process) bool {
		return stats.AllocatedWithoutGC(of).Known == 0
	})
	for _, of := range counted[:min(len(counted), maxSections)] {
		p.Prose("", fmt.Sprintf("%s allocated %s, by allocation ticks.", processName(of), sumText(stats.AllocatedWithoutGC(of))))
	}
	if len(counted) == 0 {
		p.Prose("", "Allocated bytes are unknown: no GC counted them, and the trace has no allocation ticks.")
	}
}
