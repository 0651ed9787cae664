package gc_test

import (
	"iter"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// crowd is a trace of more processes than a Model distinguishes, with one collection each.
type crowd struct {
	trace.Source
	processes int
	loss      trace.Loss
}

func (c *crowd) Info() *trace.Info { return &trace.Info{PID: trace.UnknownID} }
func (c *crowd) Loss() *trace.Loss { return &c.loss }

func (c *crowd) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for n := range c.processes {
			m, at := tracetest.Maker{PID: uint64(1 + n), TID: 9}, time.Duration(n)*time.Microsecond
			if !yield(m.At(at, &clr.GCStart{Count: 1}), nil) || !yield(m.At(at, &clr.GCEnd{Count: 1}), nil) {
				return
			}
		}
	}
}

// TestManyProcesses: the events of more processes than a Model distinguishes are counted as
// left out, which says nothing of the others' collections.
func TestManyProcesses(t *testing.T) {
	const more = 500
	src := &crowd{processes: gc.MaxProcesses + more, loss: trace.Loss{Exactness: trace.Exact}}
	var m gc.Model
	collections := 0
	for c, err := range m.Collections(src) {
		if err != nil {
			t.Fatal(err)
		}
		if collections++; c.AffectedByLoss {
			t.Fatalf("process %d is affected by loss", c.Process.PID)
		}
	}
	if collections != gc.MaxProcesses || len(m.Processes()) != gc.MaxProcesses {
		t.Errorf("%d collections of %d processes", collections, len(m.Processes()))
	}
	if l := src.loss; l.LeftOut != 2*more || l.Events != l.LeftOut || l.Exactness != trace.Exact || !l.Holes(0, trace.MaxTime) {
		t.Errorf("loss %+v", l)
	}
}
