package main

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
)

const (
	numHeaps = 4
	pinned   = 3 // objects, at each collection
	handles  = 20
	tick     = 100 << 10 // bytes between allocation ticks
)

// A program allocates and collects, according to its events.
type program struct {
	provider  *emit.Provider
	collector *emit.Collector
	user      *emit.Thread
	rng       *rand.Rand
	heaps     []heap
	summary   summary
}

func newProgram(p *emit.Provider) *program {
	return &program{
		provider:  p,
		collector: p.NewCollector(emit.CollectorOptions{Heaps: numHeaps}),
		user:      p.NewThread(),
		rng:       rand.New(rand.NewPCG(1, 2)),
		heaps:     make([]heap, numHeaps),
		summary:   summary{PID: os.Getpid(), Collections: map[string]map[string]int{}},
	}
}

// run raises n collections.
func (p *program) run(n int) error {
	p.setHandles()
	for turn := 0; n > 0; turn++ {
		time.Sleep(time.Millisecond)
		raised, err := p.turn(turn, n)
		if err != nil {
			return err
		}
		n -= raised
	}
	return nil
}

// runUntil raises collections until ctx ends, some twenty in a second.
func (p *program) runUntil(ctx context.Context) error {
	p.setHandles()
	pace := time.NewTicker(70 * time.Millisecond)
	defer pace.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return nil
		case <-pace.C:
		}
		if _, err := p.turn(turn, math.MaxInt); err != nil {
			return err
		}
	}
}

// turn allocates, and raises the next collections, n at most.
func (p *program) turn(turn, n int) (raised int, err error) {
	p.allocate(clr.AllocationKindSmall, 2<<20)
	p.allocate(clr.AllocationKindLarge, 500<<10)
	p.allocate(clr.AllocationKindPinned, 200<<10)
	return p.collect(turn, n)
}

// collect raises the next collections, of all kinds in turn but n at most, and
// says how many.
func (p *program) collect(turn, n int) (raised int, err error) {
	switch {
	case turn%5 == 1 && n >= 3:
		return 3, p.background()
	case turn%5 == 3:
		return 1, p.blocking(2, "blocking")
	default:
		return 1, p.blocking(turn%2, "blocking")
	}
}

// setHandles creates handles, and destroys one in ten.
func (p *program) setHandles() {
	for i := range uint64(handles) {
		if p.provider.Enabled(clr.KindSetGCHandle) {
			p.user.Raise(&clr.SetGCHandle{HandleID: 0x1000 + 8*i, ObjectID: 0x7f000000 + 64*i, Kind: clr.HandleKindStrong})
		}
		if i%10 == 9 && p.provider.Enabled(clr.KindDestroyGCHandle) {
			p.user.Raise(&clr.DestroyGCHandle{HandleID: 0x1000 + 8*i})
		}
	}
}

// allocate takes so many bytes from each heap, in steps of a tick.
func (p *program) allocate(kind clr.AllocationKind, bytes uint64) {
	types := [...]string{"System.String", "Game.Monster[]", "System.Byte[]"}
	generations := [...]int{emit.Gen0, emit.LOH, emit.POH}
	for i := range p.heaps {
		for left := bytes; left > 0; {
			n := min(left, tick+uint64(p.rng.IntN(1000)))
			left -= n
			p.heaps[i][generations[kind]].objects += n
			if p.provider.Enabled(clr.KindGCAllocationTick) {
				p.user.Raise(&clr.GCAllocationTick{
					AllocationAmount: uint32(n), AllocationAmount64: n, AllocationKind: kind,
					TypeName: clr.NewUTF16(types[kind]), HeapIndex: uint32(i), ObjectSize: n,
				})
			}
		}
	}
}

// blocking raises a collection that blocks.
func (p *program) blocking(generation int, kind string) error {
	reason := [...]clr.GCReason{clr.GCReasonAllocSmall, clr.GCReasonAllocSmall, clr.GCReasonInduced}[generation]
	c, err := p.collector.Begin(emit.Plan{Generation: generation, Reason: reason})
	if err != nil {
		return err
	}
	p.work(50 * time.Microsecond)
	if err := c.Suspended(); err != nil {
		return err
	}
	var r *result
	return p.steps(
		func() error { return p.commit(c) },
		func() error { return p.mark(c) },
		func() error { r = collect(p.rng, p.heaps, generation); return nil },
		func() error { return p.commit(c) },
		func() error { return c.End(&r.Result) },
		c.Resume,
		c.Resumed,
		func() error { p.summary.add(generation, kind, c.Pause(), r); return nil },
	)
}

// background raises a background collection, one inside its first pause, and one
// in the foreground while it runs.
func (p *program) background() error {
	c, err := p.collector.Begin(emit.Plan{Generation: 2, Background: true, Reason: clr.GCReasonAllocLarge})
	if err != nil {
		return err
	}
	p.work(50 * time.Microsecond)
	if err := c.Suspended(); err != nil {
		return err
	}
	r := beginSweep(p.heaps)
	return p.steps(
		func() error { return p.commit(c) },
		func() error { return p.inside(c) },
		c.Resume,
		c.Resumed,
		func() error { p.allocate(clr.AllocationKindSmall, 1<<20); return nil },
		func() error { p.allocate(clr.AllocationKindLarge, 300<<10); return nil },
		func() error { return p.blocking(1, "foreground") },
		c.Suspend,
		c.Suspended,
		func() error { return p.mark(c) },
		c.Resume,
		c.Resumed,
		func() error { r.sweep(p.rng, p.heaps); return c.End(&r.Result) },
		func() error { p.summary.add(2, "background", c.Pause(), r); return nil },
	)
}

// inside raises a collection in the first pause of a background one.
func (p *program) inside(background *emit.Collection) error {
	c, err := background.BeginInside(emit.Plan{Generation: 1, Reason: clr.GCReasonAllocLarge})
	if err != nil {
		return err
	}
	r := collect(p.rng, p.heaps, 1)
	return p.steps(
		func() error { return p.commit(c) },
		func() error { return p.mark(c) },
		func() error { return c.End(&r.Result) },
		func() error { p.summary.add(1, "blocking", c.Pause(), r); return nil },
	)
}

// mark marks each heap from its roots, and reports pinned objects.
func (p *program) mark(c *emit.Collection) error {
	for i := range p.heaps {
		for _, root := range []clr.RootType{clr.RootTypeStack, clr.RootTypeHandles, clr.RootTypeOlder} {
			p.work(5 * time.Microsecond)
			if err := c.Mark(i, root, uint64(p.rng.IntN(1<<20))); err != nil {
				return err
			}
		}
	}
	for i := range uint64(pinned) {
		err := c.Raise(&clr.PinObjectAtGCTime{
			HandleID: 0x1000 + 8*i, ObjectID: 0x7f000000 + 64*i, ObjectSize: 24, TypeName: clr.NewUTF16("System.Byte[]"),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// commit reports how much memory is committed.
func (p *program) commit(c *emit.Collection) error {
	var used uint64
	for i := range p.heaps {
		for _, s := range p.heaps[i] {
			used += s.objects + s.free
		}
	}
	return c.Committed(clr.CommittedUsage{Version: 1, TotalCommittedInUse: used, TotalCommittedInFree: 1 << 20})
}

// steps does one thing after the other, with some time between them.
func (p *program) steps(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
		p.work(50 * time.Microsecond)
	}
	return nil
}

// work keeps the processor busy for a random time below twice about.
func (p *program) work(about time.Duration) {
	for start, d := time.Now(), time.Duration(p.rng.Int64N(int64(2*about))); time.Since(start) < d; {
	}
}
