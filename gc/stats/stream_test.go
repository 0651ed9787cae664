package stats_test

import (
	"iter"
	"math"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// A prefix is a source that ends after so many events.
type prefix struct {
	trace.Source
	info  trace.Info
	limit int
	read  int
}

func (p *prefix) Info() *trace.Info { return &p.info }

func (p *prefix) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		for ev, err := range p.Source.Events() {
			if p.read == p.limit || err != nil {
				return
			}
			p.read++
			p.info.Last = max(p.info.Last, ev.Time())
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// prefixes is how many prefixes of a trace are read.
const prefixes = 40

// TestConservedInStream checks prefixes of traces in a live model: after each
// collection, no more was freed than was allocated and was there when the first
// collection began, and the share of pauses is that of the time so far. Once a
// collection's allocated bytes are unknown, its process is exempt, because later
// collections free them.
func TestConservedInStream(t *testing.T) {
	for _, name := range []string{
		"net10-wks-background-collect.nettrace.gz", "net10-wks-web-collect.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz",
		"net10-lossy-handles.nettrace.gz", "net8-win-x64-gcevents.etl.zip", "net31-net9-lttng.trace.zip",
	} {
		t.Run(name, func(t *testing.T) {
			all, checked := streamed(t, name, math.MaxInt)
			if checked == 0 {
				t.Fatal("no collection has its bytes")
			}
			for i := range prefixes {
				streamed(t, name, all*(i+1)/(prefixes+1))
			}
		})
	}
}

// streamed checks the first events of a trace, and returns how many it read and
// after how many collections bytes were compared.
func streamed(t *testing.T, name string, limit int) (events, checked int) {
	t.Helper()
	in, err := open.File("../../testdata/"+name, open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	src := &prefix{Source: in.Source, info: *in.Source.Info(), limit: limit}
	model := gc.Model{Live: true}
	sums := make(map[*gc.Process]*stats.Summary)
	there := make(map[*gc.Process]int64)
	exempt := make(map[*gc.Process]bool)
	for c, err := range model.Collections(src) {
		if err != nil {
			t.Fatal(err)
		}
		p := sums[c.Process]
		if p == nil {
			p = new(stats.Summary)
			sums[c.Process] = p
			for _, g := range c.Generations {
				there[c.Process] += g.Before - g.FreeBefore
			}
			there[c.Process] -= c.Allocated.Or(0)
		} else if !c.Allocated.Known() && !c.AllocatedTicks.Known() {
			exempt[c.Process] = true
		}
		p.Add(c)
		allocated, freed := p.All().Allocated.Sum, p.All().Freed.Sum
		if exempt[c.Process] {
			continue
		}
		checked++
		if freed > allocated+there[c.Process] {
			t.Errorf("%d events, collection %d: %d freed, %d allocated, %d there before", limit, c.Number, freed, allocated, there[c.Process])
		}
	}
	for of, p := range sums {
		watched, pauses := p.Watched(), p.All().Pause
		if watched > src.info.Last {
			t.Errorf("%d events, pid %d: watched %v of %v", limit, of.PID, watched, src.info.Last)
		}
		share, known := p.PauseShare().Get()
		if known != (watched > 0 && pauses.Count() > 0) {
			t.Errorf("%d events, pid %d: share %v of %v known %v", limit, of.PID, share, watched, known)
		}
		if want := min(100, 100*float64(pauses.Sum())/float64(watched)); known && share != want {
			t.Errorf("%d events, pid %d: share %v, want %v", limit, of.PID, share, want)
		}
	}
	return src.read, checked
}
