package html

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/background"
)

// TestLiveDetails: the latest collections have their details, of as many as there is
// room for.
func TestLiveDetails(t *testing.T) {
	t.Parallel()
	all := collections(t, "../../testdata/net10-wks-induced-collect.nettrace.gz")
	for _, heaps := range []int{1, 200} {
		var l Live
		const many = maxLive + 500
		for i := range many {
			c := onHeaps(all[i%len(all)], heaps)
			c.Number = uint32(i + 1)
			l.Add(time.Time{}, &c)
			if l.bytes > maxLiveDetails {
				t.Fatalf("%d bytes of details", l.bytes)
			}
		}
		if heaps == 1 && l.oldest != many-maxLive || heaps > 1 && l.oldest <= many-maxLive {
			t.Errorf("%d heaps: the oldest details are of %d", heaps, l.oldest)
		}
		for _, i := range []int{l.oldest, many - 1} {
			c := onHeaps(all[i%len(all)], heaps)
			if want := detail(nil).appendCollection(&c).appendJSON(nil); !slices.Equal(l.Detail(uint32(i+1)), want) {
				t.Errorf("GC %d: %s, want %s", i+1, l.Detail(uint32(i+1)), want)
			}
		}
		if l.Detail(uint32(l.oldest)) != nil {
			t.Error("details that were dropped are there")
		}
	}
}

// onHeaps returns a copy of a collection with its first mark once more for each further heap.
func onHeaps(of *gc.Collection, heaps int) gc.Collection {
	c := *of
	if len(c.Marks) > 0 {
		c.Marks = slices.Concat(c.Marks, slices.Repeat(c.Marks[:1], heaps-1))
	}
	return c
}

// TestLivePhases: each background collection is sent once, the latest where there
// are many.
func TestLivePhases(t *testing.T) {
	var l Live
	at, seen := 0, uint32(0)
	for i := range 3 * maxLivePhases {
		c := &background.Collection{Number: uint32(i + 1)}
		c.Phases[background.Sweep] = gc.Some(background.Interval{})
		l.AddPhases(c)
		if i%7 != 0 {
			continue
		}
		text, next := l.Phases(at)
		at = next
		var all []phases
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if seen++; p.Number != seen {
				t.Fatalf("collection %d was sent, want %d", p.Number, seen)
			}
		}
		if int(seen) != i+1 {
			t.Fatalf("%d were sent of %d", seen, i+1)
		}
	}
	if text, _ := l.Phases(at); at == l.ended && text != nil {
		t.Errorf("%s", text)
	}
	text, _ := l.Phases(0)
	var all []phases
	if err := json.Unmarshal(text, &all); err != nil || len(all) != maxLivePhases || all[len(all)-1].Number != 3*maxLivePhases {
		t.Errorf("%d phases are kept: %v", len(all), err)
	}
}
