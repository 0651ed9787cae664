package openmetrics_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/gctrail/gctrail/export/openmetrics"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// This writes metrics for promtool tsdb create-blocks-from openmetrics. What is unknown of a collection is left out.
func ExampleWriter() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	var out bytes.Buffer
	w := openmetrics.NewWriter(&out, in.Source.Info().Start)
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
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "# TYPE dotnet_gc_pause") || strings.HasPrefix(line, "# HELP dotnet_gc_heap_total") {
			fmt.Print(line)
		}
	}
	// Output:
	// # TYPE dotnet_gc_pause_time_seconds counter
	// # HELP dotnet_gc_heap_total_allocated_bytes Bytes allocated since the trace began, up to the start of the latest collection; at least, where a collection does not show all.
	// # TYPE dotnet_gc_pause_duration_seconds histogram
}
