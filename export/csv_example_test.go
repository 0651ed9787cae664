package export_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/open"
)

// This writes a few columns of the first collections. Unknown figures are empty.
func ExampleCSV() {
	in, err := open.File("../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	var w export.CSV
	for _, name := range []string{"number", "pause_ms", "since_last_ms", "freed_bytes"} {
		c, _ := figure.Named(name)
		w.Columns = append(w.Columns, c)
	}
	lines, count := w.AppendHeader(nil), 0
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		lines = w.AppendCollection(lines, c)
		if count++; count == 3 {
			break
		}
	}
	fmt.Printf("%s", lines)
	// Output:
	// number,pause_ms,since_last_ms,freed_bytes
	// 1,9.389237,,39198320
	// 2,17.458925,35.603049,27521720
	// 3,1.85466,58.453208,5816152
}
