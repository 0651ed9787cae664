package dotnettest

import (
	"testing"

	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/open"
)

// Snapshots returns the heap snapshots in the trace of a program, with their graphs.
func Snapshots(tb testing.TB, path string) []*heap.Snapshot {
	tb.Helper()
	m := heap.Snapshots{MaxObjects: heap.MaxObjects}
	in, err := open.File(path, open.Options{Want: pass.Wants(&m)})
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Close()
	if err := pass.Run(tb.Context(), in.Source, &m); err != nil {
		tb.Fatal(err)
	}
	return m.All()
}
