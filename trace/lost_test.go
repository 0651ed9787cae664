package trace_test

import (
	"encoding/json"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// This prints a loss as a sentence, and as it is in a report's JSON.
func ExampleLoss() {
	loss := trace.Loss{Exactness: trace.LowerBound, Truncated: true}
	loss.Add(2, 1500*time.Microsecond, 2*time.Millisecond)
	loss.AddFormatError(&trace.FormatError{Off: 1234})
	text, err := json.Marshal(loss)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loss)
	fmt.Println(string(text))
	// Output:
	// at least 2 events lost, 1 damaged place, truncated
	// {"events":2,"left_out":0,"events_is":"lower_bound","cut":true,"late":0,"damaged":1,"at":[{"from_ms":1.5,"to_ms":2}],"at_in_all":1}
}

// TestLossText: each kind of loss has its words, and only a trace that counts lost events
// has none for certain.
func TestLossText(t *testing.T) {
	var uncounted, late trace.Loss
	uncounted.Add(0, 1, 2)
	late.Late = 3
	late.Add(0, 1, 2)
	for _, test := range []struct {
		loss trace.Loss
		want string
	}{
		{trace.Loss{Exactness: trace.Exact}, "no loss"},
		{trace.Loss{}, "no loss known"},
		{trace.Loss{Exactness: trace.Exact, Late: 1}, "no loss, 1 event out of order"},
		{trace.Loss{Exactness: trace.Exact, Events: 1}, "1 event lost"},
		{trace.Loss{Events: 2}, "at least 2 events lost"},
		{trace.Loss{Exactness: trace.Exact, Events: 3, LeftOut: 2}, "1 event lost, 2 events left out"},
		{trace.Loss{Exactness: trace.Exact, Events: 2, LeftOut: 2}, "2 events left out"},
		{trace.Loss{Exactness: trace.LowerBound, Damaged: 2, Truncated: true}, "2 damaged places, truncated"},
		{trace.Loss{StreamsUnknown: true}, "parts may be missing"},
		{uncounted, "an unknown number of events lost"},
		{late, "3 events out of order"},
	} {
		if got := fmt.Sprint(test.loss); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if value, pointer := fmt.Sprint(test.loss), fmt.Sprint(&test.loss); value != pointer {
			t.Errorf("%q, and %q of a pointer", value, pointer)
		}
	}
}

// TestLossJSON: no loss has an empty list, many ranges are counted beyond the listed ones,
// and events that were left out are not lost ones.
func TestLossJSON(t *testing.T) {
	for n := range 23 {
		l := trace.Loss{Events: 5, LeftOut: 5, Exactness: trace.Exact}
		for i := range n {
			at := time.Duration(i) * time.Second
			l.Add(1, at, at)
		}
		text, err := json.Marshal(struct{ Lost *trace.Loss }{&l})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Lost struct {
				Events  int
				LeftOut int              `json:"left_out"`
				At      []map[string]int // nil for null
				InAll   int              `json:"at_in_all"`
			}
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		lost := &got.Lost
		if lost.Events != n || lost.LeftOut != 5 || lost.At == nil || len(lost.At) != min(n, 20) || lost.InAll != n {
			t.Errorf("%d ranges: %s", n, text)
		}
		if last := len(lost.At) - 1; last >= 0 && lost.At[last]["from_ms"] != 1000*last {
			t.Errorf("%d ranges: %s", n, text)
		}
	}
}

func TestMillis(t *testing.T) {
	for ns, want := range map[trace.Millis][2]string{
		0: {"0", "0"}, 1: {"0.000001", "0.000001"}, 1_500_000: {"1.5", "1.5"}, 1_000_000: {"1", "1"}, 12_034_000_000: {"12034", "12034"},
		-1_500_000: {"-1.5", "0"}, -1 << 63: {"-9223372036854.775808", "0"},
	} {
		text, err := ns.MarshalJSON()
		if got := [2]string{string(ns.Append(nil)), string(text)}; err != nil || got != want {
			t.Errorf("%d: %q, %v, want %q", int64(ns), got, err, want)
		}
	}
}
