package firefox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export/firefox"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// This writes a profile for profiler.firefox.com. Unknown figures are left out.
func ExampleWriter() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	var out bytes.Buffer
	w := firefox.NewWriter(&out, in.Source.Info().Start)
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
	fmt.Println(json.Valid(out.Bytes()))
	// Output:
	// true
}
