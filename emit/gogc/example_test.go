package gogc_test

import (
	"bytes"
	"fmt"
	"log"
	"runtime"
	"runtime/debug"

	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/emit/gogc"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/nettrace"
)

func Example() {
	percent := debug.SetGCPercent(-1) // so that the output is always the same
	p, err := gogc.NewProvider(gogc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	session, err := p.Start(&out, emit.SessionOptions{Providers: gogc.Wanted()})
	if err != nil {
		log.Fatal(err)
	}
	source, err := gogc.Start(p, gogc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	runtime.GC()
	source.Stop()
	debug.SetGCPercent(percent)
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}

	var model gc.Model
	for c, err := range model.Collections(nettrace.NewReader(&out, nettrace.Options{Want: gc.Wants})) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v collection for %v, pause known: %v\n", c.Kind, c.Reason, c.Pause().Known())
	}
	// Output:
	// background collection for Induced, pause known: true
}
