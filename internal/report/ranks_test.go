package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/internal/text"
)

// TestPercentilesInOneUnit: the pauses of a table have the unit of its heading,
// however short some are.
func TestPercentilesInOneUnit(t *testing.T) {
	process := &gc.Process{PID: 7, Stopped: time.Second}
	var found findings.Set
	c := Case{Ranks: new(Ranks)}
	for i, us := range []time.Duration{93100, 93, 93} {
		at := time.Duration(i) * 100 * time.Millisecond
		collection := &gc.Collection{Process: process, Number: uint32(i + 1), AllPauses: true, Pauses: []gc.Pause{{Start: at, Duration: us * time.Microsecond}}}
		found.Add(collection)
		c.Ranks.Add(collection)
	}
	c.Result = found.Judge(findings.Trace{})[0]
	page := &text.Page{Width: 80}
	c.writePercentiles(page)
	got := string(page.Bytes())
	for _, want := range []string{"p50 ms", "max ms", "0.093 (", "93.1 (1)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "µs") {
		t.Errorf("two units in\n%s", got)
	}
}
