package figure_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/open"
)

// Values are unknown where a trace does not show them. This counts how often the figures of generation 2 are unknown.
func ExampleNamed() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	unknown := make(map[string]int)
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		for _, name := range []string{"gen2_before_bytes", "gen2_freed_bytes"} {
			f, _ := figure.Named(name)
			if f.Value(c).Type == figure.Unknown {
				unknown[name]++
			}
		}
	}
	fmt.Println(unknown)
	// Output:
	// map[gen2_freed_bytes:69]
}
