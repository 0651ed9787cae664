package profile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// This writes a profile for www.speedscope.app. Frames without a name are ?, or a file and an
// offset.
func ExampleWriteSpeedscope() {
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
