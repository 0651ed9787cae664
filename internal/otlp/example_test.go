package otlp_test

import (
	"fmt"
	"log"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/open"
)

// This makes the log record of the first collection. An unknown figure has no attribute.
func ExampleOfCollection() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		began, known := c.Start.Get()
		if !known {
			continue
		}
		r := otlp.OfCollection(c, in.Source.Info().Start.Add(began))
		fmt.Println(r.GetEventName(), time.Unix(0, int64(r.GetTimeUnixNano())).UTC().Format(time.RFC3339))
		attributes := make(map[string]bool)
		for _, a := range r.GetAttributes() {
			attributes[a.GetKey()] = true
		}
		for _, key := range []string{"gctrail.gc.pause_ms", "gctrail.gc.since_last_ms"} {
			fmt.Println(key, attributes[key])
		}
		break
	}
	// Output:
	// gctrail.gc 2026-11-20T23:56:28Z
	// gctrail.gc.pause_ms true
	// gctrail.gc.since_last_ms false
}
