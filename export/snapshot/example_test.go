package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export/snapshot"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// This writes a snapshot of a trace for PerfView, and reads it back.
func ExampleWriteGCDump() {
	snapshots := heap.Snapshots{MaxObjects: heap.MaxObjects}
	in, err := open.File("../../testdata/net10-wks-leak.nettrace.gz", open.Options{Want: pass.Wants(&snapshots)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	if err := pass.Run(context.Background(), in.Source, &snapshots); err != nil {
		log.Panic(err)
	}
	var file bytes.Buffer
	if err := snapshot.WriteGCDump(&file, snapshots.All()[0]); err != nil {
		log.Panic(err)
	}
	read, err := heap.ReadGCDump(&file)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(read.Objects, "objects,", read.Bytes, "bytes")
	// Output:
	// 6091 objects, 1128437 bytes
}
