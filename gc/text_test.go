package gc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
)

// This prints a collection whose figures are all known, and one of which the trace shows
// only a part.
func ExampleCollection_String() {
	whole := &gc.Collection{
		Number: 42, Generation: gc.Some(1), Kind: gc.Blocking, Complete: true,
		AllPauses: true, Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Duration: 3200 * time.Microsecond}},
		HeapBefore: gc.Some[int64](120_000_000), HeapAfter: gc.Some[int64](80_000_000),
	}
	part := &gc.Collection{Number: 43, HeapAfter: gc.Some[int64](81_000_000)}
	fmt.Println(whole)
	fmt.Println(part)
	// Output:
	// GC 42 gen 1 blocking, paused 3.20 ms, heap 120 MB → 80.0 MB
	// GC 43, heap 81.0 MB after, incomplete
}

// TestCollectionText checks that a text leaves unknown figures out, and has a known 0.
func TestCollectionText(t *testing.T) {
	for _, test := range []struct {
		c    gc.Collection
		want string
	}{
		{gc.Collection{Number: 7, Complete: true}, "GC 7"},
		{gc.Collection{Number: 7, Complete: true, AllPauses: true, Generation: gc.Some(0)}, "GC 7 gen 0, paused 0 ms"},
		{gc.Collection{Number: 7, Complete: true, Pauses: []gc.Pause{{Duration: time.Second}}}, "GC 7"}, // not all pauses
		{gc.Collection{Number: 7, Kind: gc.Background, HeapBefore: gc.Some[int64](0)}, "GC 7 background, heap 0 B before, incomplete"},
		{gc.Collection{Number: 7, Complete: true, AffectedByLoss: true}, "GC 7, affected by lost events"},
	} {
		if got := fmt.Sprint(test.c); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if got := fmt.Sprintf("%v", &test.c); got != test.want {
			t.Errorf("%q of a pointer, want %q", got, test.want)
		}
	}
}

// TestCollectionJSON: a collection is never written in Go's own form, whatever it is in.
func TestCollectionJSON(t *testing.T) {
	c := gc.Collection{Number: 1}
	for _, v := range []any{c, &c, []gc.Collection{c}, struct{ Longest *gc.Collection }{&c}} {
		if text, err := json.Marshal(v); err == nil || !strings.Contains(err.Error(), "AppendCollection of export/jsonl") {
			t.Errorf("%T: %s, %v", v, text, err)
		}
	}
}
