package findings

import (
	"fmt"
	"time"

	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/units"
)

const (
	// enoughRequests is the least number of requests from which a cause of slow ones is sought,
	// because the slowest 1 % of fewer would be none.
	enoughRequests = 100
	// slowRequest is the 99th percentile of the requests' times from which they count as slow.
	slowRequest = 10 * time.Millisecond
)

var listRequests = Step{Action: ListRequests, Purpose: "see the slowest requests, and the GCs that paused them"}

var requestRules = []rule{{
	id: "R90", title: "pauses make the slowest requests slow", kind: aside, minor: true, anyLength: true,
	threshold: "of 100 requests or more, GC pauses took a tenth of the time of the slowest 1 %; a warning from half of the time on, if these took 10 ms or longer",
	source:    "own",
	find:      pausesDelay,
	advice: []advice{
		{text: "Look at the GCs that paused them: the findings on their causes are what to change.", next: []Step{listRequests}},
	},
}}

func pausesDelay(j *judgement) (Finding, bool) {
	all := j.Details.Requests
	if all == nil || all.Count < enoughRequests || all.Slowest.Share() < request.PartlyPaused {
		return Finding{}, false
	}
	t := &all.Slowest
	return Finding{
		Severity: warningIf(t.Share() >= request.MostlyPaused && t.From >= slowRequest), Confidence: High,
		Description: fmt.Sprintf("GC pauses took %s of the time of the slowest %s (1 %%), which took %s or longer. Without pauses, the 99th percentile of all %s would be %s instead of %s.",
			units.Percent(100*t.Share()), plural(t.Count, "request"), units.Duration(t.From), units.Count(all.Count), units.Duration(all.Running.Percentile(99)), units.Duration(all.Duration.Percentile(99))),
		Evidence: []Figure{
			{"requests", float64(all.Count)},
			{"paused_requests", float64(all.Hit)},
			{"slowest_paused_pct", 100 * t.Share()},
			{"p99_ms", millis(all.Duration.Percentile(99))},
			{"p99_running_ms", millis(all.Running.Percentile(99))},
		},
	}, true
}
