package perfetto_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export/perfetto"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// This writes a timeline for ui.perfetto.dev. It leaves out unknown figures.
func ExampleWriter() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	var out bytes.Buffer
	w := perfetto.NewWriter(&out)
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		if err := w.Add(c); err != nil {
			log.Panic(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Panic(err)
	}
	fmt.Println(out.Len() > 0)
	// Output:
	// true
}
