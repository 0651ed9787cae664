package trace_test

import (
	"archive/zip"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/trace"
)

// This counts collections by process. The process may be unknown, because a trace need
// not record it, and events may be lost.
func ExampleSource() {
	files, err := zip.OpenReader("../testdata/net31-net9-lttng.trace.zip")
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	var src trace.Source
	if src, err = ctf.Open(files, ctf.Options{Resolve: clr.Tracepoint}); err != nil {
		log.Panic(err)
	}

	count := make(map[string]int)
	for ev, err := range src.Events() {
		if err != nil {
			log.Panic(err)
		}
		if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) != clr.KindGCStart {
			continue
		}
		process := "a process that the trace does not identify"
		if ev.PID != trace.UnknownID {
			process = fmt.Sprintf("process %d", ev.PID)
		}
		count[process]++
	}
	for process, n := range count {
		fmt.Printf("%s: %d collections began\n", process, n)
	}
	if loss := src.Loss(); loss.Exactness == trace.Unknown {
		fmt.Println("it is unknown how many events were lost")
	} else {
		fmt.Printf("%d events were lost (%v)\n", loss.Events, loss.Exactness)
	}
	// Unordered output:
	// process 21386: 34 collections began
	// process 21385: 9 collections began
	// 0 events were lost (exact)
}
