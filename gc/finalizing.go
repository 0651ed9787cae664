package gc

import (
	"time"

	"github.com/gctrail/gctrail/internal/units"
)

// Finalizing is a run of a process's finalizer thread that has not ended. A run lasts until
// no finalizer is left.
type Finalizing struct {
	Since   time.Duration
	Objects int64         // found for it by collections since the previous run ended
	Found   int           // collections that found objects since it began
	Latest  time.Duration // when the latest of them did
}

// finalizersBegin notes that the finalizer thread begins to run finalizers.
func (m *Model) finalizersBegin(e *event) {
	p := e.process
	p.Finalizing = Some(Finalizing{Since: e.Time, Objects: p.unfinalized})
}

// finalizersEnd notes that the finalizer thread has run all finalizers.
func (m *Model) finalizersEnd(e *event) {
	e.process.Finalizing, e.process.unfinalized = Opt[Finalizing]{}, 0
}

// foundFinalizable notes how many dead objects with finalizers a collection found.
func (p *Process) foundFinalizable(at time.Duration, objects int64) {
	if objects <= 0 {
		return
	}
	p.unfinalized = units.AddCapped(p.unfinalized, objects)
	if f, running := p.Finalizing.Get(); running {
		f.Objects, f.Latest = p.unfinalized, at
		f.Found++
		p.Finalizing = Some(f)
	}
}
