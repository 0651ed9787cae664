package report

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/stats"
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

// hundred adds a hundred pauses of 1 to 100 ms.
func hundred(add func(*gc.Collection)) {
	process := &gc.Process{PID: 7, Stopped: time.Hour}
	for i := range 100 {
		at := time.Duration(i) * time.Second
		add(&gc.Collection{
			Process: process, Number: uint32(i + 1), AllPauses: true, Start: gc.Some(at), PauseStart: gc.Some(at),
			Pauses: []gc.Pause{{Start: at, Duration: time.Duration(i+1) * time.Millisecond}},
		})
	}
}

// TestPercentiles checks which percentile has which name, in the table and in JSON.
func TestPercentiles(t *testing.T) {
	var ranks Ranks
	hundred(ranks.Add)
	got := make(map[string]time.Duration)
	for _, p := range ranks.Percentiles() {
		got[p.Name] = p.Ranked.Pause
	}
	const ms = time.Millisecond
	if want := map[string]time.Duration{"p50": 50 * ms, "p90": 90 * ms, "p99": 99 * ms, "max": 100 * ms}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var sum stats.Summary
	hundred(sum.Add)
	j := totalsJSON(sum.All())
	got = make(map[string]time.Duration)
	for name, v := range map[string]gc.Opt[Millis]{"sum": j.Pause, "max": j.PauseMax, "p50": j.PauseP50, "p90": j.PauseP90, "p99": j.PauseP99} {
		got[name] = time.Duration(v.Or(0))
	}
	if want := map[string]time.Duration{"sum": 5050 * ms, "p50": 50 * ms, "p90": 90 * ms, "p99": 99 * ms, "max": 100 * ms}; !maps.Equal(got, want) {
		t.Errorf("in JSON: %v, want %v", got, want)
	}
}
