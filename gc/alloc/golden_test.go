package alloc_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// TestTables compares the rows of traces with ticks, with stacks, and with sampled allocations
// to golden files: by type, by type and stack, and by method, in descending order of bytes.
func TestTables(t *testing.T) {
	const most = 12
	var b strings.Builder
	for _, name := range []string{"net10-wks-stacks.nettrace.gz", "net10-wks-sampler-web.nettrace.gz", "net31-net9-lttng.trace.zip"} {
		var table symbol.Table
		m := alloc.Model{Stacks: symbol.NewStacks(&table), KeepTimes: true, LargeLimits: []uint64{100_000, 1 << 20}}
		models := []pass.Model{pass.Raw(symbol.Wants, table.Feed), &m}
		in, err := open.File(filepath.Join("../../testdata", name), open.Options{Stacks: true, Want: pass.Wants(models...)})
		if err != nil {
			t.Fatal(err)
		}
		if err := pass.Run(t.Context(), in.Source, models...); err != nil {
			t.Fatal(err)
		}
		in.Close()
		fmt.Fprintf(&b, "%s: %d rejected\n", name, m.Rejected())
		for _, total := range m.Totals() {
			fmt.Fprintf(&b, "  %+v, best %v, below limits %.6v\n", total, m.BestSource(total.PID), m.LargeBelow(total.PID, total.Source))
			for _, by := range []alloc.By{alloc.ByType, alloc.ByType | alloc.ByStack, alloc.ByMethod, alloc.ByHeap} {
				rows := m.Rows(total.PID, total.Source, by)
				fmt.Fprintf(&b, "  by %b: %d\n", by, len(rows))
				for _, row := range rows[:min(most, len(rows))] {
					fmt.Fprintf(&b, "    %+v\n", row)
				}
			}
			times := 0
			for row := range m.Timeline(total.PID, total.Source) {
				if times++; times <= most {
					fmt.Fprintf(&b, "    %+v\n", row)
				}
			}
			fmt.Fprintf(&b, "  %d times\n", times)
		}
	}
	extent.Golden(t, "testdata/tables.txt", b.String())
}
