package report

import (
	"bytes"
	"compress/flate"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

// TestPageOfSnapshots: a page has the heap snapshots of the selected time, with the names of
// types that stand only in an earlier one.
func TestPageOfSnapshots(t *testing.T) {
	const leak = "../../testdata/net10-wks-leak.nettrace.gz"
	all := dotnettest.Snapshots(t, leak)
	in, err := open.File(leak, PageOptions())
	if err != nil {
		t.Fatal(err)
	}
	r := NewReading(t.Context(), in, leak, []string{leak})
	defer r.Close()
	var o selection.Selection
	if err := o.From.Set((all[1].Start.Or(0) - time.Millisecond).String()); err != nil {
		t.Fatal(err)
	}
	paged := NewPaged(r, &o)
	var page Page
	if _, err := page.Gather(paged, Budget{}, nil); err != nil {
		t.Fatal(err)
	}
	var numbers []uint32
	for _, s := range paged.details.snapshotsOf(all[0].PID) {
		numbers = append(numbers, s.Number)
	}
	if want := []uint32{all[1].Number, all[2].Number}; !slices.Equal(numbers, want) {
		t.Errorf("snapshots of GCs %v, want %v", numbers, want)
	}
	blocks, err := page.Blocks()
	if err != nil || len(page.Traces[0].Objects) != 1 {
		t.Fatal(len(page.Traces[0].Objects), err)
	}
	objects, err := io.ReadAll(flate.NewReader(bytes.NewReader(blocks["objects"])))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{`"label":"GC 5"`: false, `"label":"GC 6"`: true, `"label":"GC 7"`: true, `"Shop.Leak"`: true} {
		if bytes.Contains(objects, []byte(text)) != want {
			t.Errorf("%s: want %t", text, want)
		}
	}
}
