package whatif_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/whatif"
	"github.com/gctrail/gctrail/open"
)

// This asks what a smaller gen 0 would change for a program.
func Example() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	var program whatif.Program
	for c, err := range new(gc.Model).Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		program.Add(c)
	}
	set, err := whatif.ParseSet("GCgen0size=256M")
	if err != nil {
		log.Panic(err)
	}
	result := whatif.Predict(&program, []whatif.Set{set})
	fmt.Println(result.Notes)
	for _, m := range result.Metrics[:2] {
		fmt.Printf("%s: now %.1f, %.1f to %.1f\n", m.Name, m.Now.Or(0), m.Low.Or(0), m.High.Or(0))
	}
	// Output:
	// [workstation GC caps it: 128 MiB, half of a segment]
	// gcs_per_minute: now 1303.9, 199.9 to 2328.1
	// paused_pct: now 36.0, 6.0 to 90.1
}
