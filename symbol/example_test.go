package symbol_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
	"github.com/gctrail/gctrail/trace"
)

// This prints from where the first collection of a trace was triggered.
func Example() {
	triggered := func(d *trace.Descriptor) bool { return clr.KindOf(d.Provider, d.ID) == clr.KindGCTriggered }
	in, err := open.File("../testdata/net10-wks-stacks.nettrace.gz", open.Options{
		Stacks: true,
		Want:   func(d *trace.Descriptor) bool { return symbol.Wants(d) || triggered(d) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()

	var table symbol.Table
	stacks := symbol.NewStacks(&table)
	first := symbol.NoStack
	for ev, err := range in.Source.Events() {
		if err != nil {
			log.Panic(err)
		}
		table.Feed(ev)
		if triggered(ev.Desc) && first == symbol.NoStack {
			first = stacks.Intern(ev)
		}
	}
	for frame := range stacks.Frames(first) {
		fmt.Println(frame)
	}
	// Output:
	// GcLoad+<>c__DisplayClass8_0.<Web>b__0(int32)
	// GcLoad+<>c__DisplayClass5_1.<OnThreads>b__0()
	// System.Threading.Thread+StartHelper.RunWorker()
	// System.Threading.Thread+StartHelper.Run()
	// System.Threading.Thread.StartCallback()
}
