package elsewhere_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/elsewhere"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// This finds out why a program waits if its GC is innocent.
func Example() {
	var (
		collections gc.Model
		others      elsewhere.Model
	)
	models := others.Models()
	in, err := open.File("../../testdata/net10-wks-pool.nettrace.gz", open.Options{Want: pass.Wants(append(models, &collections)...)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	for _, err := range collections.Collections(in.Source, models...) {
		if err != nil {
			log.Panic(err)
		}
	}
	for _, p := range collections.Processes() {
		s := others.Of(p.PID)
		fmt.Printf("the thread pool lacked threads %d times, and had up to %d\n", s.Starved, s.Threads)
	}
	// Output:
	// the thread pool lacked threads 4 times, and had up to 6
}
