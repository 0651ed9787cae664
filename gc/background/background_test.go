package background

import (
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

const ms = time.Millisecond

func TestPhases(t *testing.T) {
	var got []*Collection
	model := Model{Done: func(c *Collection) { got = append(got, c) }}
	m := tracetest.Maker{PID: 7, TID: 1}
	modelPass := pass.New(&model)
	at := func(when int, tid uint64, e clr.Event) {
		m.TID = tid
		modelPass.Feed(m.At(time.Duration(when)*ms, e))
	}
	at(0, 1, &clr.BGC1stConEnd{}) // of one that began before the trace
	at(1, 1, &clr.GCStart{Count: 4})
	at(10, 1, &clr.GCStart{Count: 5, Type: clr.GCTypeBackgroundGC})
	at(10, 1, &clr.GCStart{Count: 6}) // in the first pause
	at(11, 1, &clr.GCEnd{Count: 6})
	at(12, 2, &clr.BGC1stNonConEnd{})
	at(13, 3, &clr.BGC1stNonConEnd{}) // the thread of another heap
	at(14, 9, &clr.GCStart{Count: 7, Type: clr.GCTypeForegroundGC})
	at(15, 9, &clr.BGCAllocWaitBegin{})
	at(18, 9, &clr.BGCAllocWaitEnd{})
	at(18, 9, &clr.BGCAllocWaitBegin{})
	at(19, 8, &clr.BGCAllocWaitEnd{}) // began before
	at(20, 9, &clr.BGCAllocWaitEnd{})
	at(20, 2, &clr.BGCDrainMark{Objects: 11})
	at(21, 2, &clr.BGCRevisit{Pages: 100, Objects: 1000})
	at(21, 2, &clr.BGCRevisit{Pages: 3, Objects: 30, IsLarge: 1}) // loh
	at(21, 2, &clr.BGCRevisit{Pages: 4, Objects: 40, IsLarge: 1}) // and poh
	at(22, 2, &clr.BGCRevisit{Pages: 10, Objects: 100})           // a second round
	at(22, 2, &clr.BGCRevisit{IsLarge: 1})
	at(22, 3, &clr.BGCRevisit{Pages: 1000, Objects: 2000, IsLarge: 1})
	at(30, 2, &clr.BGC1stConEnd{})
	at(31, 2, &clr.BGC2ndNonConBegin{})
	at(32, 2, &clr.BGCRevisit{Pages: 1, Objects: 5, IsLarge: 1}) // gen0
	at(32, 2, &clr.BGCRevisit{Pages: 2, Objects: 6, IsLarge: 1}) // and gen1
	at(32, 2, &clr.BGCRevisit{Pages: 7, Objects: 70})            // and gen2
	at(32, 2, &clr.BGCRevisit{Pages: 1, Objects: 3, IsLarge: 1})
	at(33, 2, &clr.BGCOverflow{Objects: 50})
	at(33, 2, &clr.BGCOverflow{})
	at(35, 2, &clr.BGC2ndNonConEnd{})
	at(36, 2, &clr.BGC2ndConBegin{})
	at(46, 2, &clr.BGC2ndConEnd{})
	at(47, 2, &clr.GCEnd{Count: 7})
	at(48, 2, &clr.GCEnd{Count: 5})
	at(49, 2, &clr.GCEnd{Count: 5})

	at(60, 1, &clr.GCStart{Count: 8, Type: clr.GCTypeBackgroundGC}) // ran blocking
	at(61, 1, &clr.GCEnd{Count: 8})
	at(70, 1, &clr.GCStart{Count: 9, Type: clr.GCTypeBackgroundGC})
	at(71, 1, &clr.BGC1stNonConEnd{})
	at(72, 1, &clr.BGC2ndNonConBegin{}) // the end of marking is lost
	at(73, 1, &clr.GCEnd{Count: 9})

	if len(got) != 2 {
		t.Fatalf("%d collections, expected 2", len(got))
	}
	want := Collection{
		PID: 7, Number: 5, Start: 10 * ms, End: 48 * ms,
		Phases: [NumPhases]gc.Opt[Interval]{
			gc.Some(Interval{11 * ms, 2 * ms}), gc.Some(Interval{13 * ms, 17 * ms}), gc.Some(Interval{30 * ms, 1 * ms}),
			gc.Some(Interval{31 * ms, 4 * ms}), gc.Some(Interval{35 * ms, 1 * ms}), gc.Some(Interval{36 * ms, 10 * ms}),
		},
		Foreground: 1, Drained: 11, Pages: 100 + 4 + 10 + 1000 + 7 + 1, Objects: 1000 + 40 + 100 + 2000 + 70 + 3, Final: 73,
		Overflows: 1, Overflown: 50, Waits: 2, Waiting: 5 * ms,
	}
	if *got[0] != want {
		t.Errorf("got  %+v\nwant %+v", *got[0], want)
	}
	for phase, in := range got[1].Phases {
		if in.Known() != (Phase(phase) == InitialMark) {
			t.Errorf("of a collection with a lost event, %v is %v", Phase(phase), in)
		}
	}
}
