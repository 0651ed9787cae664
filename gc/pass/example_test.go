package pass_test

import (
	"fmt"
	"log"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// A finalizing model adds up how long the finalizer thread ran.
type finalizing struct {
	begin, total time.Duration
	objects      uint32
}

func (*finalizing) Kinds() []clr.Kind {
	return []clr.Kind{clr.KindGCFinalizersBegin, clr.KindGCFinalizersEnd}
}

func (m *finalizing) Event(e *pass.Event) {
	if e.Kind == clr.KindGCFinalizersBegin {
		m.begin = e.Time
		return
	}
	if v, ok := pass.Decode[clr.GCFinalizersEnd](e); ok {
		m.total += e.Time - m.begin
		m.objects += v.Count
	}
}

// This reads a trace once, for its collections and for a model of another question.
func Example() {
	var (
		collections gc.Model
		finalizers  finalizing
	)
	in, err := open.File("../../testdata/net10-wks-web-collect.nettrace.gz", open.Options{Want: pass.Wants(&collections, &finalizers)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	var pauses time.Duration
	for c, err := range collections.Collections(in.Source, &finalizers) {
		if err != nil {
			log.Panic(err)
		}
		for _, p := range c.Pauses {
			pauses += p.Duration
		}
	}
	fmt.Printf("paused for %v, finalized %d objects in %v\n", pauses, finalizers.objects, finalizers.total)
	// Output: paused for 1.558915291s, finalized 24 objects in 1.369559ms
}
