package perfview_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/perfview"
	"github.com/gctrail/gctrail/open"
)

// This prints the first collection as PerfView's GCStats has them. A cell is
// empty if TraceEvent has no figure.
func ExampleModel() {
	var all []*perfview.GC
	model := perfview.Model{Done: func(g *perfview.GC) { all = append(all, g) }}
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: pass.Wants(&model)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	if err := pass.Run(context.Background(), in.Source, &model); err != nil {
		log.Panic(err)
	}
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
