package nettrace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/gctrail/gctrail/nettrace"
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
			fmt.Printf("%s of process %d, the first event after %v\n", r.Info().Format, ev.PID, ev.Time())
		}
		events++
	}
	fmt.Printf("%d events, ends early: %v, lost: %d (%v)\n", events, r.Loss().Truncated, r.Loss().Events, r.Loss().Exactness)
	// Output:
	// nettrace V4 of process 5992, the first event after 257.724µs
	// 1144 events, ends early: true, lost: 0 (lower_bound)
}

// This makes a trace of what another one has after its second second.
func ExampleSplicer() {
	data, err := os.ReadFile("../testdata/net10-wks-web-collect.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		log.Fatal(err)
	}

	var end bytes.Buffer
	var splicer nettrace.Splicer
	objects := nettrace.NewObjectReader(z)
	begun := false
	for {
		o, err := objects.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if !begun && o.Starts(splicer.Latest()) && o.First >= objects.Ticks(2*time.Second) {
			begun = true
			err = splicer.Begin(&end, o)
		}
		if err := errors.Join(err, splicer.Add(o)); err != nil {
			log.Fatal(err)
		}
	}
	_, mark := splicer.Whole()
	end.Write(mark)

	r := nettrace.NewReader(&end, nettrace.Options{})
	events := 0
	for _, err := range r.Events() {
		if err != nil {
			log.Fatal(err)
		}
		events++
	}
	fmt.Printf("%d events in %v, lost: %d\n", events, r.Info().Last.Round(100*time.Millisecond), r.Loss().Events)
	// Output:
	// 6328 events in 2.3s, lost: 0
}
