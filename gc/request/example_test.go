package request_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/open"
)

// This finds out whether the GC is why the slowest requests of a program are slow.
func Example() {
	var (
		collections gc.Model
		requests    request.Model
	)
	models := requests.Models()
	in, err := open.File("../../testdata/net10-wks-requests.nettrace.gz", open.Options{Want: pass.Wants(append(models, &collections)...)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	for c, err := range collections.Collections(in.Source, models...) {
		if err != nil {
			log.Panic(err)
		}
		requests.Collected(c)
	}
	for _, p := range requests.Processes(in.Source.Loss()) {
		all, _ := p.Summaries(func(*request.Span) bool { return true })
		fmt.Printf("%d requests, p99 %v, without pauses %v\n", all.Count, all.Duration.Percentile(99), all.Running.Percentile(99))
		fmt.Printf("the slowest 1 %% were paused for %.0f %% of their time\n", 100*all.Slowest.Share())
	}
	// Output:
	// 240 requests, p99 11.282882ms, without pauses 5.295397ms
	// the slowest 1 % were paused for 60 % of their time
}
