package handle_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc/handle"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/symbol"
)

// TestTables compares the handles, pins and finalized objects of real traces, one of which
// lost millions of events, to a golden file.
func TestTables(t *testing.T) {
	const most = 9
	var b strings.Builder
	for _, name := range []string{
		"coreclr1-srv-lttng.trace.zip", "net10-lossy-handles.nettrace.gz", "net21-win-x86-objver3.netperf.gz",
		"net30-win-x64-survival.nettrace.gz", "net9-lttng-discarded.trace.zip",
	} {
		var table symbol.Table
		var types symbol.Types
		handles := handle.Handles{Stacks: symbol.NewStacks(&table), Pins: new(handle.Pins)}
		finalizers := handle.Finalizers{Types: &types}
		models := []pass.Model{pass.Raw(symbol.Wants, table.Feed), pass.Raw(symbol.WantsTypes, types.Feed), &handles, &finalizers}
		in, err := open.File(filepath.Join("../../testdata", name), open.Options{Stacks: true, Want: pass.Wants(models...), Runs: pass.Runs(models...)})
		if err != nil {
			t.Fatal(err)
		}
		if err := pass.Run(t.Context(), in.Source, models...); err != nil {
			t.Fatal(err)
		}
		in.Close()
		fmt.Fprintf(&b, "%s: %d sizes rejected\n", name, handles.Pins.Rejected())
		for _, of := range handles.Processes() {
			fmt.Fprintf(&b, "  handles %+v\n", of)
			for _, stacks := range []bool{false, true} {
				rows := handles.Rows(of.PID, stacks)
				fmt.Fprintf(&b, "  %d rows\n", len(rows))
				for _, row := range rows[:min(most, len(rows))] {
					points := row.Points
					row.Points = nil
					fmt.Fprintf(&b, "    %+v, every %v", row, points[0].At)
					for _, p := range points {
						fmt.Fprintf(&b, " %d", p.N)
					}
					fmt.Fprintln(&b)
				}
			}
		}
		for _, of := range handles.Pins.Processes() {
			fmt.Fprintf(&b, "  pins %+v\n", of)
			for _, row := range handles.Pins.Rows(of.PID) {
				fmt.Fprintf(&b, "    %+v\n", row)
			}
		}
		for _, of := range finalizers.Processes() {
			fmt.Fprintf(&b, "  finalizers %+v\n", of)
			for _, row := range finalizers.Rows(of.PID) {
				fmt.Fprintf(&b, "    %+v\n", row)
			}
		}
	}
	extent.Golden(t, "testdata/tables.txt", b.String())
}
