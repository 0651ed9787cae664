package findings_test

import (
	"iter"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/trace"
)

// A joined trace also collects the join events of server GC.
type joined struct {
	trace.Source
	model join.Model
	sums  map[uint64]*join.Sum
}

func wantsJoined(d *trace.Descriptor) bool { return gc.Wants(d) || join.Wants(d) }

func (j *joined) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range j.Source.Events() {
			if err == nil {
				j.model.Feed(ev)
			}
			if !yield(ev, err) {
				return
			}
		}
		j.model.Close()
	}
}

// examineJoined judges the processes of a trace.
func examineJoined(src trace.Source) ([]findings.Result, error) {
	j := &joined{Source: src, sums: map[uint64]*join.Sum{}}
	j.model.Done = func(c *join.Collection) {
		if j.sums[c.PID] == nil {
			j.sums[c.PID] = new(join.Sum)
		}
		j.sums[c.PID].Add(c)
	}
	return findings.Examine(j, findings.Options{
		Details: func(p *gc.Process) findings.Details { return findings.Details{Joins: j.sums[p.PID]} },
	})
}
