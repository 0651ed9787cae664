package handle_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/open"
)

// This counts the objects that collections found pinned.
func ExamplePins() {
	in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{Want: handle.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var pins handle.Pins
	for ev, err := range in.Source.Events() {
		if err != nil {
			log.Panic(err)
		}
		pins.Feed(ev)
	}
	for _, row := range pins.Rows(in.Source.Info().PID) {
		fmt.Printf("%s: %d times, %d bytes\n", row.Type, row.Count, row.Bytes)
	}
	// Output:
	// System.Object: 2 times, 48 bytes
}
