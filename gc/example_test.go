package gc_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
)

// This finds the collection whose pause was longest.
func ExampleModel_Collections() {
	data, err := os.ReadFile("../testdata/net10-wks-web-collect.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		log.Fatal(err)
	}

	var model gc.Model
	var longest *gc.Collection
	count := 0
	for c, err := range model.Collections(nettrace.NewReader(z, nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			log.Fatal(err)
		}
		count++
		if longest == nil || c.Pause().Or(0) > longest.Pause().Or(0) {
			longest = c
		}
	}
	p := longest.Process
	fmt.Printf("%s, %s: %d collections\n", p.Name, p.Runtime, count)
	fmt.Printf("longest pause %v: number %d, %v generation %v for %v, freed %v bytes\n",
		longest.Pause(), longest.Number, longest.Kind, longest.Generation, longest.Reason, longest.Freed)
	// Output:
	// gcload, .NET 10.0.12: 94 collections
	// longest pause 32.613606ms: number 64, blocking generation 1 for AllocSmall, freed 34620616 bytes
}
