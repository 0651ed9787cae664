package join_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/join"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
)

// A marks is a model that adds to a sum what each heap marked.
type marks struct{ *join.Sum }

func (marks) Kinds() []clr.Kind { return []clr.Kind{clr.KindGCMarkWithType} }

func (m marks) Event(e *pass.Event) {
	if v, ok := pass.Decode[clr.GCMarkWithType](e); ok {
		m.Mark(v.HeapNum, v.Type, int64(v.Bytes))
	}
}

// TestTables compares the joins of real traces, their sums, and the decisions of DATAS to a
// golden file. The trace in this folder is a part of net10-srv-nodatas-background-verbose: a
// background GC with an ephemeral one inside it, and others after it.
func TestTables(t *testing.T) {
	const most = 4 // collections whose rows are listed
	var b strings.Builder
	for _, path := range []string{
		"testdata/background.nettrace.gz", "../../testdata/coreclr1-srv-lttng.trace.zip", "../../testdata/net9-srv-datas-all.nettrace.gz",
	} {
		fmt.Fprintf(&b, "%s\n", path)
		var sum join.Sum
		var tunings join.Tunings
		joins := join.Model{Done: func(c *join.Collection) {
			sum.Add(c)
			heap, held, _ := c.Straggler()
			fmt.Fprintf(&b, "  GC %d of %d.%d at %v: %v of %d heaps, %v for heap %d\n", c.Number, c.PID, c.Instance, c.Start, c.Pause, c.Heaps(), held, heap)
			if sum.Collections <= most {
				writeRows(&b, c.Rows)
			}
		}}
		models := []pass.Model{&joins, &tunings, marks{&sum}}
		in, err := open.File(path, open.Options{Want: pass.Wants(models...)})
		if err != nil {
			t.Fatal(err)
		}
		if err := pass.Run(t.Context(), in.Source, models...); err != nil {
			t.Fatal(err)
		}
		in.Close()
		for _, tuning := range tunings.All() {
			what, why := tuning.Decision()
			fmt.Fprintf(&b, "  %+v: %s, %s\n", tuning, what, why)
		}
		if sum.Collections > 0 {
			of, _ := sum.Straggler()
			fmt.Fprintf(&b, "  %d collections, %v: %+v. %s\n", sum.Collections, sum.Pause(), of, of.Explain())
			writeRows(&b, slices.Concat(sum.Heaps(), sum.Rows()))
		}
	}
	extent.Golden(t, "testdata/tables.txt", b.String())
}

func writeRows(b *strings.Builder, rows []join.Row) {
	for _, r := range rows {
		fmt.Fprintf(b, "    %d %s: works %v, waits %v, wakes %v, last %d times, %v for it\n", r.Heap, r.Phase, r.Working, r.Waiting, r.Waking, r.Last, r.WaitedFor)
	}
}
