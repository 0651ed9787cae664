package nettrace_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"os"

	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// This counts the events of a trace of a process that was killed.
func ExampleReader_Events() {
	data, err := os.ReadFile("../testdata/net10-killed-web.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		log.Fatal(err)
	}

	r := nettrace.NewReader(z, nettrace.Options{})
	events := 0
	for ev, err := range r.Events() {
		if err != nil {
			log.Fatal(err)
		}
		if events == 0 {
			process := "an unknown process"
			if ev.PID != trace.UnknownID {
				process = fmt.Sprintf("process %d", ev.PID)
			}
			fmt.Printf("%s of %s, the first event after %v\n", r.Info().Format, process, ev.Time())
		}
		events++
	}
	fmt.Printf("%d events, ends early: %v, lost: %d (%v)\n", events, r.Loss().Truncated, r.Loss().Events, r.Loss().Exactness)
	// Output:
	// nettrace V4 of process 5992, the first event after 257.724µs
	// 1144 events, ends early: true, lost: 0 (lower_bound)
}
