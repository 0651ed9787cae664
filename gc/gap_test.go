package gc_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// gapFixtures are the traces from which bytes are left out.
var gapFixtures = []string{
	"net10-wks-web-collect.nettrace", "net10-wks-background-collect.nettrace", "net10-wks-stacks.nettrace",
	"net9-srv-datas-web-collect.nettrace", "net21-win-x86-objver3.netperf",
}

// gapFixture returns the first part of a trace.
func gapFixture(t *testing.T, name string) []byte {
	b := tracetest.Gunzip(t, "../testdata/"+name+".gz")
	return b[:min(len(b), damageBytes)]
}

// accountOf returns the number of events of a trace, its loss and its length.
func accountOf(b []byte) (events uint64, loss *trace.Loss, length time.Duration) {
	r := nettrace.NewReader(bytes.NewReader(b), nettrace.Options{Want: gc.Wants})
	for range r.Events() {
		continue
	}
	for _, n := range r.Counts() {
		events += n
	}
	return events, r.Loss(), r.Info().Last
}

// TestGapSizes leaves a quarter out of the middle of traces, and one, two and three bytes
// more, which moves the padding of all blocks behind. Collections, damage and the end of the
// loss must be the same. The gaps begin and end in the same blocks, so that only the events
// read of the bytes around them may differ, and with them the time from which on events may be
// lost: they are a few of one block, less than 1 % of the trace.
func TestGapSizes(t *testing.T) {
	for _, name := range gapFixtures {
		b := gapFixture(t, name)
		from, to := len(b)*3/8, len(b)*3/8+len(b)/16*4
		all, _, _ := accountOf(b)
		aligned := slices.Concat(b[:from], b[to:])
		want := read(name, aligned)
		events, loss, length := accountOf(aligned)
		if loss.Damaged == 0 || len(want) == 0 {
			t.Errorf("%s: %d collections, %d places damaged", name, len(want), loss.Damaged)
		}
		for more := 1; more <= 3; more++ {
			cut := slices.Concat(b[:from], b[to+more:])
			got := read(name, cut)
			if err := got.includes(want); err != nil || len(got) != len(want) {
				t.Errorf("%s, %d bytes more: %d collections, want %d; %v", name, more, len(got), len(want), err)
			}
			if err := want.includes(got); err != nil {
				t.Errorf("%s, %d bytes more: %v", name, more, err)
			}
			n, l, last := accountOf(cut)
			if d := int64(n) - int64(events); max(d, -d) > int64(events/100) || last != length {
				t.Errorf("%s, %d bytes more: %d events until %v, want %d until %v", name, more, n, last, events, length)
			}
			if l.Damaged != loss.Damaged || l.Truncated != loss.Truncated || l.Exactness != loss.Exactness || l.Events+n > all {
				t.Errorf("%s, %d bytes more: %v, want %v", name, more, l, loss)
			}
			is, was := l.Ranges(), loss.Ranges()
			if len(is) != len(was) || len(is) == 0 || is[len(is)-1].To != was[len(was)-1].To {
				t.Errorf("%s, %d bytes more: loss in %v, want %v", name, more, is, was)
			}
		}
	}
}

// TestGapAnywhere leaves bytes out of traces at random. Collections are then those of the
// undamaged trace, unless they are marked as affected. No more events are lost than are
// missing, and at no other times than the trace's: a sequence point may follow the last event,
// and nothing is read before the first second.
func TestGapAnywhere(t *testing.T) {
	const around = time.Second
	for _, name := range gapFixtures {
		b := gapFixture(t, name)
		whole := read(name, b)
		events, _, length := accountOf(b)
		each(extent.Pick(30, 100, 3000), func(i int) {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			size := 1 + random.IntN(len(b)/4)
			at := random.IntN(len(b) - size)
			cut := slices.Concat(b[:at], b[at+size:])
			got := read(name, cut)
			for key, c := range got {
				if start := c.Start.Or(0); start < 0 || start > length {
					t.Errorf("%s, %d bytes at %d: collection %v at %v", name, size, at, key, start)
				}
			}
			if err := whole.includes(got); err != nil {
				t.Errorf("%s, %d bytes at %d: %v", name, size, at, err)
			}
			n, loss, last := accountOf(cut)
			if last > length || loss.Events > events-min(n, events) {
				t.Errorf("%s, %d bytes at %d: %d events and %d lost until %v, of %d until %v", name, size, at, n, loss.Events, last, events, length)
			}
			for _, lost := range loss.Ranges() {
				if lost.From < -around || lost.To > length+around {
					t.Errorf("%s, %d bytes at %d: events lost from %v to %v, of %v", name, size, at, lost.From, lost.To, length)
				}
			}
		})
	}
}
