package export_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/openmetrics"
	"github.com/gctrail/gctrail/export/perfetto"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// This writes collections in two formats at once.
func ExampleWriter() {
	in, err := open.File("../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	var timeline, metrics bytes.Buffer
	writers := []export.Writer{perfetto.NewWriter(&timeline), openmetrics.NewWriter(&metrics, in.Source.Info().Start)}
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		for _, w := range writers {
			if err := w.Add(c); err != nil {
				log.Panic(err)
			}
		}
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			log.Panic(err)
		}
	}
	line, _, _ := bytes.Cut(metrics.Bytes(), []byte("\n"))
	fmt.Println(timeline.Len() > 0, string(line))
	// Output:
	// true # TYPE dotnet_gc_collections counter
}
