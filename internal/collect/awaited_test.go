package collect

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

// TestAwaitedRequest: a trace ends some time after the first request that meets the condition,
// whatever its collections.
func TestAwaitedRequest(t *testing.T) {
	const path, after = "../../testdata/net10-wks-requests.nettrace.gz", 10 * time.Millisecond
	for text, want := range map[string]string{
		"request>10ms and paused>60%": "GET /report",
		"request>10ms and paused>99%": "",
		"pause>0ms":                   "a collection",
	} {
		until, err := selection.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		var canceled atomic.Bool // by events, or by a timer
		a := awaited{plan: &Plan{Until: until, After: after}, notify: func(Notice) {}, cancel: func() { canceled.Store(true) }}
		a.met = func(trigger *Trigger) {
			got = "a collection"
			if s := trigger.Request; s != nil {
				got = s.Label()
				if trigger.From != s.Start || trigger.To != s.Start+s.Duration.Or(0) || trigger.To <= trigger.From || trigger.PID == 0 {
					t.Errorf("%s: %+v", text, trigger)
				}
			}
		}
		in, err := open.File(path, open.Options{Want: a.wants})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		model := gc.Model{Live: true}
		for c, err := range model.Collections(in.Source, a.models()...) {
			if err != nil {
				t.Fatal(err)
			}
			a.finished(c)
		}
		if got != want || canceled.Load() != (want != "") {
			t.Errorf("%s: %q met it, canceled %v; expected %q", text, got, canceled.Load(), want)
		}
	}
}
