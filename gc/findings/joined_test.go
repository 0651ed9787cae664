package findings_test

import (
	"slices"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/elsewhere"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/trace"
)

var wantsJoined = pass.Wants(new(gc.Model), new(join.Model), new(heap.Snapshots), pass.Raw(request.Wants, nil), pass.Raw(elsewhere.Wants, nil))

// examineJoined examines a trace together with its joins, because findings on server GC need
// the times of the GC threads, with its heap snapshots and its requests, and what its time goes to besides.
func examineJoined(src trace.Source) ([]findings.Result, error) {
	sums := map[uint64]*join.Sum{}
	joins := join.Model{Done: func(c *join.Collection) {
		if sums[c.PID] == nil {
			sums[c.PID] = new(join.Sum)
		}
		sums[c.PID].Add(c)
	}}
	snapshots := heap.Snapshots{MaxObjects: heap.MaxObjects}
	var requests request.Model
	var others elsewhere.Model
	return findings.Examine(src, findings.Options{
		Details: func(p *gc.Process) findings.Details {
			of := slices.DeleteFunc(snapshots.All(), func(s *heap.Snapshot) bool { return s.PID != p.PID })
			details := findings.Details{Joins: sums[p.PID], Snapshots: findings.NewSnapshots(of), Elsewhere: others.Of(p.PID)}
			for _, r := range requests.Processes(src.Loss()) {
				if r.PID == p.PID {
					details.Requests, _ = r.Summaries(func(*request.Span) bool { return true })
				}
			}
			return details
		},
	}, slices.Concat(requests.Models(), others.Models(), []pass.Model{&joins, &snapshots})...)
}
