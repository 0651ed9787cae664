package nettrace_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// TestManyOverrides reads events that all have different keywords, because the memory for
// kinds must not grow with the trace.
func TestManyOverrides(t *testing.T) {
	const events, limit = 10_000, 5000
	var text strings.Builder
	text.WriteString("nettrace v6\nmetadata\n  def id=1 provider=P event=1\nlabels first=1\n")
	for i := range events {
		fmt.Fprintf(&text, "  list keywords=%d\n", i+1)
	}
	text.WriteString("events\n  event meta=1 capture=1 thread=1 seq=1 time=1 labels=1\n")
	for i := range events - 1 {
		fmt.Fprintf(&text, "  event time=%d labels=%d\n", i+2, i+2)
	}
	r := nettrace.NewReader(bytes.NewReader(tracetest.MustNettrace(t, text.String()+"end\n")), nettrace.Options{})
	n, kinds := 0, make(map[*trace.Descriptor]bool)
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		kinds[ev.Desc] = true
	}
	var counted uint64
	for _, of := range r.Counts() {
		counted += of
	}
	if n != events || counted != events || len(kinds) > limit {
		t.Errorf("%d events, %d counted, of %d kinds", n, counted, len(kinds))
	}
}
