package handle_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// This counts the objects that collections found pinned.
func ExamplePins() {
	var pins handle.Pins
	in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{Want: pass.Wants(&pins)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	if err := pass.Run(context.Background(), in.Source, &pins); err != nil {
		log.Panic(err)
	}
	for _, row := range pins.Rows(in.Source.Info().PID) {
		fmt.Printf("%s: %d times, %d bytes\n", row.Type, row.Count, row.Bytes)
	}
	// Output:
	// System.Object: 2 times, 48 bytes
}
