package gc

import (
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/saturate"
)

// CollectorTime holds the processor time of the threads that do nothing but collect, from the first
// reading to the last.
type CollectorTime struct {
	Threads    int           // at most, in a reading
	Server     time.Duration // of the threads of server GC
	Background time.Duration // of the threads of background GC
}

// Least returns the processor time that the GC used at least.
func (t CollectorTime) Least() time.Duration { return saturate.Add(t.Server, t.Background) }

func (t *ProcessorTime) readGC(v *clr.GCThreadTime) {
	before := t.GC.Or(CollectorTime{})
	t.GC = Some(CollectorTime{
		Threads:    max(before.Threads, int(v.Threads)),
		Server:     grown(&t.first.serverGC, v.ServerNanoseconds),
		Background: grown(&t.first.backgroundGC, v.BackgroundNanoseconds),
	})
}

// GCTime returns bounds of the processor time that the GC used of Processor.Run; unknown if
// the threads were not read. The lower bound is the time of the threads that do nothing but
// collect. With workstation GC, the thread that starts a collection pauses the others and
// does the work, unless a background GC does it. How much of a pause that thread ran is not
// known: the upper bound takes all of it. Server GC has no upper bound, and needs none,
// because its own threads do the work; that they ran shows that it is on.
func (p *Process) GCTime() (least, most Opt[time.Duration]) {
	t, known := p.Processor.GC.Get()
	if !known || p.Processor.Run <= 0 {
		return least, most
	}
	least = Some(min(t.Least(), p.Processor.Run))
	if !p.Server.Or(false) && t.Server == 0 && p.Missing == 0 {
		most = Some(min(saturate.Add(t.Least(), p.Processor.PauseCovered), p.Processor.Run))
	}
	return least, most
}
