package background_test

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/background"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/tracetest"
)

// This prints how long the phases of a background collection took. A phase whose begin
// or end is missing is unknown.
func ExampleModel() {
	model := background.Model{Done: func(c *background.Collection) {
		for phase := range background.NumPhases {
			if in, known := c.Phases[phase].Get(); known {
				fmt.Println(phase, in.Duration)
			} else {
				fmt.Println(phase, "unknown")
			}
		}
	}}
	events := tracetest.Maker{PID: 42, TID: 1} // in place of a trace.Source
	p := pass.New(&model)
	for i, e := range []clr.Event{
		&clr.GCStart{Count: 5, Depth: 2, Type: clr.GCTypeBackgroundGC},
		&clr.BGC1stNonConEnd{},
		&clr.BGC1stConEnd{},
		&clr.BGC2ndNonConEnd{},
		&clr.BGC2ndConBegin{},
		&clr.BGC2ndConEnd{},
		&clr.GCEnd{Count: 5, Depth: 2},
	} {
		p.Feed(events.At(time.Duration(i)*time.Millisecond, e))
	}
	// Output:
	// initial_mark 1ms
	// concurrent_mark 1ms
	// final_wait unknown
	// final_mark unknown
	// sweep_wait 1ms
	// sweep 1ms
}
