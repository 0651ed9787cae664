package alloc_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// This finds the types that a program allocates most of, and the method that
// allocates most.
func Example() {
	var table symbol.Table
	model := alloc.Model{Stacks: symbol.NewStacks(&table)}
	models := []pass.Model{pass.Raw(symbol.Wants, table.Feed), &model}
	in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{Stacks: true, Want: pass.Wants(models...)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	if err := pass.Run(context.Background(), in.Source, models...); err != nil {
		log.Panic(err)
	}
	pid := in.Source.Info().PID
	for _, row := range model.Rows(pid, alloc.Tick, alloc.ByType)[:3] {
		fmt.Printf("%s (%v): %d MB, %d to %d\n", row.Type, row.Heap, row.Bytes/1e6, row.Low/1e6, row.High/1e6)
	}
	fmt.Println(model.Rows(pid, alloc.Tick, alloc.ByMethod)[0].Method)
	// Output:
	// System.String (small): 355 MB, 346 to 365
	// System.Byte[] (small): 192 MB, 184 to 200
	// OrderLine (small): 190 MB, 183 to 198
	// GcLoad+<>c__DisplayClass8_0.<Web>b__0(int32)
}
