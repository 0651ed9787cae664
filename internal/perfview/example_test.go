package perfview_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/internal/perfview"
	"github.com/gctrail/gctrail/open"
)

// This prints the first collection as PerfView's GCStats has them. A cell is
// empty if TraceEvent has no figure.
func ExampleModel() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: perfview.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var all []*perfview.GC
	model := perfview.Model{Done: func(g *perfview.GC) { all = append(all, g) }}
	for ev, err := range in.Source.Events() {
		if err != nil {
			log.Panic(err)
		}
		model.Feed(ev)
	}
	model.Close()
	for _, g := range all[:1] {
		for _, c := range perfview.Events()[:6] {
			fmt.Printf("%s: %q\n", c.Name, c.Text(g))
		}
	}
	// Output:
	// GC Index: "1"
	// Pause Start: "371.924"
	// Trigger Reason: "AllocSmall"
	// Gen: "0N"
	// Suspend Msec: "0.015"
	// Pause MSec: "9.433"
}
