package eventpipe_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/nettrace"
)

// This makes a trace from the part of another after its second second.
func ExampleSplicer() {
	data, err := os.ReadFile("../../testdata/net10-wks-web-collect.nettrace.gz")
	if err != nil {
		log.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		log.Fatal(err)
	}

	var end bytes.Buffer
	var splicer eventpipe.Splicer
	objects := eventpipe.NewObjectReader(z)
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
