package html

import (
	"encoding/json"
	"testing"

	"github.com/gctrail/gctrail/gc/background"
)

// TestLivePhases: each background collection is sent once, the latest where there
// are many.
func TestLivePhases(t *testing.T) {
	var l Live
	at, seen := 0, uint32(0)
	for i := range 3 * maxLivePhases {
		c := &background.Collection{Number: uint32(i + 1)}
		c.Known[background.Sweep] = true
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
