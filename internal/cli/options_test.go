package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// TestListsRunWithoutFlags: a list does with options what its command does with flags, and
// refuses options that cannot be met.
func TestListsRunWithoutFlags(t *testing.T) {
	const trace = "../../testdata/net10-wks-stacks.nettrace.gz"
	type options interface {
		run(ctx context.Context, std *stdio) error
	}
	allocs, handles, heap, joins, pauses, phases := newAllocsOptions(), newHandlesOptions(), newHeapOptions(), newJoinsOptions(), newPausesOptions(), newPhasesOptions()
	pins, finalizers, gcs := newPinsOptions(), newFinalizersOptions(), newGCsOptions()
	allocs.by.value, allocs.top = "type,stack", 2
	heap.perHeap = true
	joins.tunings = true
	pauses.tables.values = []string{windowTable}
	phases.blocking, phases.sort = true, "pause_ms"
	gcs.columns = wordList{"number", "pause"}
	for _, tt := range []struct {
		listing *listing
		opts    options
		flags   string
	}{
		{&allocs.listing, allocs, "allocs --by type,stack --top 2"},
		{&handles.listing, handles, "handles"},
		{&heap.listing, heap, "heap --per-heap"},
		{&joins.listing, joins, "joins --tunings"},
		{&pauses.listing, pauses, "pauses --show windows"},
		{&phases.listing, phases, "phases --blocking --sort pause_ms"},
		{&pins.listing, pins, "pins"},
		{&finalizers.listing, finalizers, "finalizers"},
		{&gcs.listing, gcs, "gcs --columns number,pause"},
	} {
		var out, talk bytes.Buffer
		std := &stdio{out: &out, err: text.NewPrinter(&talk)}
		tt.listing.files, tt.listing.format.value = []string{trace}, list.CSV
		if err := tt.opts.run(t.Context(), std); err != nil {
			t.Fatalf("%s: %v", tt.flags, err)
		}
		want, wantTalk, code := on(t, 0, append(strings.Fields(tt.flags), "--format", "csv", trace)...)
		if code != exitDone || want != out.String() || wantTalk != talk.String() {
			t.Errorf("%s: exit %d; with options:\n%s%s\nwith flags:\n%s%s", tt.flags, code, out.String(), talk.String(), want, wantTalk)
		}

		tt.listing.files, tt.listing.Process = []string{"-"}, "web"
		err := tt.opts.run(t.Context(), std)
		if usage, ok := errors.AsType[*usageError](err); !ok || usage.command != "gctrail "+strings.Fields(tt.flags)[0] {
			t.Errorf("%s: a process of standard input: %v", tt.flags, err)
		}
	}
}
