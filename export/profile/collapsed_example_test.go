package profile_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// This prints the first stack. Frames without a name are ?, or a file and an offset.
func ExampleWriteCollapsed() {
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
	if err := profile.WriteCollapsed(&out, allocations); err != nil {
		log.Panic(err)
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	fmt.Println(line[max(0, len(line)-60):])
	// Output:
	// isplayClass8_0.<Web>b__0(int32);Type System.String 278493200
}
