package profile_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	google "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// This writes a profile for go tool pprof: gzip, as it expects.
func ExampleWritePprof() {
	var methods symbol.Table
	stacks := symbol.NewStacks(&methods)
	model := alloc.Model{Stacks: stacks}
	models := []pass.Model{pass.Raw(symbol.Wants, methods.Feed), &model}
	in, err := open.File("../../testdata/net10-wks-stacks.nettrace.gz", open.Options{Stacks: true, Want: pass.Wants(models...)})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	if err := pass.Run(context.Background(), in.Source, models...); err != nil {
		log.Panic(err)
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
