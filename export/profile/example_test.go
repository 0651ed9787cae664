package profile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	google "github.com/google/pprof/profile"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/export/profile"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// allocations reads the allocations of a trace, by type and stack.
func allocations(path string) ([]*export.Allocations, *trace.Info) {
	var methods symbol.Table
	stacks := symbol.NewStacks(&methods)
	model := alloc.Model{Stacks: stacks}
	models := []pass.Model{pass.Raw(symbol.Wants, methods.Feed), &model}
	in, err := open.File(path, open.Options{Stacks: true, Want: pass.Wants(models...)})
	if err != nil {
		log.Panic(err)
	}
	defer in.Close()
	if err := pass.Run(context.Background(), in.Source, models...); err != nil {
		log.Panic(err)
	}
	info := in.Source.Info()
	return []*export.Allocations{{
		Process: &gc.Process{PID: info.PID, Name: info.Processes[info.PID].Name},
		Source:  alloc.Tick,
		Rows:    model.Rows(info.PID, alloc.Tick, alloc.ByType|alloc.ByStack),
		Stacks:  stacks,
	}}, info
}

// This prints the first stack. Frames without a name are ?, or a file and an offset.
func ExampleWriteCollapsed() {
	all, _ := allocations("../../testdata/net10-wks-stacks.nettrace.gz")
	var out bytes.Buffer
	if err := profile.WriteCollapsed(&out, profile.Allocations(all)); err != nil {
		log.Panic(err)
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	fmt.Println(line[max(0, len(line)-60):])
	// Output:
	// isplayClass8_0.<Web>b__0(int32);Type System.String 278493200
}

// This writes a profile for go tool pprof: gzip, as it expects.
func ExampleWritePprof() {
	all, info := allocations("../../testdata/net10-wks-stacks.nettrace.gz")
	var out bytes.Buffer
	if err := profile.WritePprof(&out, profile.Allocations(all), info.Start, info.Last); err != nil {
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

// This writes a profile for www.speedscope.app. Frames without a name are ?, or a file and an
// offset.
func ExampleWriteSpeedscope() {
	all, _ := allocations("../../testdata/net10-wks-stacks.nettrace.gz")
	var out bytes.Buffer
	if err := profile.WriteSpeedscope(&out, profile.Allocations(all), "net10-wks-stacks"); err != nil {
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
