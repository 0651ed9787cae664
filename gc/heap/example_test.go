package heap_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// This finds the objects without which most memory would be free.
func Example() {
	snapshots := heap.Snapshots{MaxObjects: heap.MaxObjects}
	in, err := open.File("../../testdata/net10-wks-leak.nettrace.gz", open.Options{Want: pass.Wants(&snapshots)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	if err := pass.Run(context.Background(), in.Source, &snapshots); err != nil {
		log.Panic(err)
	}
	for _, s := range snapshots.All() {
		if s.Graph == nil {
			continue // a part is missing
		}
		d := s.Graph.Dominators()
		largest := d.Largest(1)[0]
		fmt.Printf("GC %d: %d objects, %s retains %d of %d bytes\n",
			s.Number, s.Objects, s.Graph.Type(d.Object(largest)), d.Retained(largest), d.LiveBytes())
	}
	// Output:
	// GC 5: 6091 objects, System.Collections.Generic.List`1[System.Object] retains 530444 of 1111189 bytes
	// GC 6: 12095 objects, System.Collections.Generic.List`1[Shop.Leak] retains 968512 of 2080005 bytes
	// GC 7: 18095 objects, System.Collections.Generic.List`1[Shop.Leak] retains 1937280 of 3048773 bytes
}
