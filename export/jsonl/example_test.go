package jsonl_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export/jsonl"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
)

// This prints figures of the first collection. Unknown ones are null.
func ExampleAppendCollection() {
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
		line := jsonl.AppendCollection(nil, in.Source.Info().Start, c)
		var figures map[string]any
		if err := json.Unmarshal(line, &figures); err != nil {
			log.Panic(err)
		}
		for _, key := range []string{"number", "pause_ms", "since_last_ms"} {
			fmt.Println(key, figures[key])
		}
		break
	}
	// Output:
	// number 1
	// pause_ms 9.389237
	// since_last_ms <nil>
}
