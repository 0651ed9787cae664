package convert_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/open"
)

// This redacts the allocation samples of a trace. The trace is read twice: first to learn
// which names are the framework's.
func ExampleRedactor() {
	r := convert.NewRedactor(convert.RedactOptions{KeepSystem: true})
	kept, hashed := 0, 0
	for _, learn := range []bool{true, false} {
		in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{})
		if err != nil {
			log.Fatal(err)
		}
		for ev, err := range in.Source.Events() {
			if err != nil {
				log.Panic(err)
			}
			var tick clr.GCAllocationTick
			switch {
			case learn:
				r.Learn(ev)
			case clr.KindOf(ev.Desc.Provider, ev.Desc.ID) != clr.KindGCAllocationTick:
			case tick.Decode(ev.Desc.Version, ev.Payload, ev.PointerSize) != nil || !r.Fields(ev, &tick):
			case tick.TypeName.Equal("System.String"):
				kept++
			default:
				hashed++
			}
		}
		in.Close()
	}
	fmt.Println(kept, "samples of System.String,", hashed, "of other types")
	// Output:
	// 3340 samples of System.String, 6138 of other types
}
