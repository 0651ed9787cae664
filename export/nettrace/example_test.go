package nettrace_test

import (
	"bytes"
	"fmt"
	"log"
	"time"

	"github.com/gctrail/gctrail/export/nettrace"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/redact"
	"github.com/gctrail/gctrail/open"
)

// This writes the first second of a trace, with its names replaced by hashes. Events
// whose fields are unknown are left out.
func ExampleWriter() {
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var out bytes.Buffer
	w := nettrace.NewWriter(&out, in.Source, nettrace.Options{To: gc.Some(time.Second), Redact: redact.New(redact.Options{})})
	for ev, err := range in.Source.Events() {
		if err != nil {
			log.Panic(err)
		}
		if err := w.Event(ev); err != nil {
			log.Panic(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Panic(err)
	}
	fmt.Println(w.Events, "events written,", w.LeftOut, "left out")
	// Output:
	// 2979 events written, 0 left out
}
