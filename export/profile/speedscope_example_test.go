package profile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// This writes a profile for www.speedscope.app. Frames without a name are ?, or a file and an
// offset.
func ExampleWriteSpeedscope() {
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
	if err := profile.WriteSpeedscope(&out, allocations, "net10-wks-stacks"); err != nil {
		log.Panic(err)
	}
	var profile struct {
		Profiles []struct {
			Name, Unit string
			EndValue   int64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &profile); err != nil {
		log.Panic(err)
	}
	fmt.Println(profile.Profiles)
	// Output:
	// [{Allocations of process bytes 1042874456}]
}
