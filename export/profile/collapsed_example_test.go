package profile_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// This prints the first stack. Frames without a name are ?, or a file and an offset.
func ExampleWriteCollapsed() {
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
	if err := profile.WriteCollapsed(&out, allocations); err != nil {
		log.Panic(err)
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	fmt.Println(line[max(0, len(line)-60):])
	// Output:
	// isplayClass8_0.<Web>b__0(int32);Type System.String 278493200
}
