package open_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// This reads a trace of any format, and prints its loss.
func ExampleFile() {
	in, err := open.File("../testdata/net10-killed-web.nettrace.gz", open.Options{Want: gc.Wants})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var model gc.Model
	unknown, count := 0, 0
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			log.Panic(err)
		}
		count++
		if !c.Pause().Known() {
			unknown++
		}
	}
	fmt.Printf("%s in %s: %d collections, of %d the pause is unknown\n", in.Source.Info().Format, in.Compression, count, unknown)
	fmt.Println("the end is missing:", in.Source.Loss().Truncated)
	// Output:
	// nettrace V4 in gzip: 64 collections, of 0 the pause is unknown
	// the end is missing: true
}

// An input that is not a trace gives a descriptive error.
func ExampleUnknownError() {
	_, err := open.File("../testdata/README.md", open.Options{})
	var unknown *open.UnknownError
	if errors.As(err, &unknown) {
		fmt.Println("it looks like", unknown.Detected)
	}
	fmt.Println(errors.Is(err, trace.ErrNotTrace))
	// Output:
	// it looks like text that begins with "# Real traces"
	// true
}
