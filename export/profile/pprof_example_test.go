package profile_test

import (
	"bytes"
	"fmt"
	"log"

	google "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// This writes a profile for go tool pprof: gzip, as it expects.
func ExampleWritePprof() {
	in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{
		Stacks: true,
		Want:   func(d *trace.Descriptor) bool { return gc.Wants(d) || alloc.Wants(d) || symbol.Wants(d) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var methods symbol.Table
	stacks := symbol.NewStacks(&methods)
	model := alloc.Model{Stacks: stacks}
	for ev, err := range in.Source.Events() {
		if err != nil {
			log.Panic(err)
		}
		methods.Feed(ev)
		model.Feed(ev)
	}
	info := in.Source.Info()
	allocations := []*export.Allocations{{
		Process: &gc.Process{PID: info.PID, Name: info.Processes[info.PID].Name},
		Source:  alloc.Tick,
		Rows:    model.Rows(info.PID, alloc.Tick, alloc.ByType|alloc.ByStack),
		Stacks:  stacks,
	}}
	var out bytes.Buffer
	if err := profile.WritePprof(&out, allocations, info.Start, info.Last); err != nil {
		log.Panic(err)
	}
	p, err := google.Parse(&out)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(p.SampleType[0].Type, p.SampleType[1].Type, len(p.Sample), "samples")
	// Output:
	// alloc_objects alloc_space 39 samples
}
