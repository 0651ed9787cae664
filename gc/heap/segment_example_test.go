package heap_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// This prints how many regions there were after the first collections.
func ExampleSegments() {
	var segments heap.Segments
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: pass.Wants(&segments)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	if err := pass.Run(context.Background(), in.Source, &segments); err != nil {
		log.Panic(err)
	}
	for number := uint32(1); number <= 2; number++ {
		s, ok := segments.Remove(in.Source.Info().PID, 0, number)
		if !ok {
			fmt.Println("the end of collection", number, "is not in the trace")
			continue
		}
		committed := "unknown"
		if c, known := s.Committed.Get(); known {
			committed = fmt.Sprint(c.Total())
		}
		fmt.Printf("collection %d: %d created, %d freed, %s bytes committed\n", number, s.Created, s.Freed, committed)
	}
	// Output:
	// collection 1: 20 created, 0 freed, 60903424 bytes committed
	// collection 2: 0 created, 0 freed, 66387968 bytes committed
}
