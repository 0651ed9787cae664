package collect

import (
	"slices"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/trace"
)

// endProviders raise events at the end of a trace, to name the process and its methods,
// or to count.
var endProviders = []string{clr.EventPipeProvider, clr.RundownProvider, clr.GctrailProvider}

// maxAnswer bounds the time from the beginning of a trace to the answer to the request for its
// session.
const maxAnswer = time.Minute

// limit makes the capture leave out events after a time from the start of the trace.
// Then, or a little later if the clock was set, it asks the runtime to end the trace.
// Both are needed, because a runtime that lacks processor time answers and ends sessions
// seconds late.
func (c *capture) limit(length time.Duration) {
	l := eventpipe.NewLimiter(c.in, length)
	l.Keep = func(d *trace.Descriptor) bool { return slices.Contains(endProviders, d.Provider) }
	l.Began = func(at time.Time) {
		if since := time.Since(at); since >= 0 && since < maxAnswer {
			time.AfterFunc(length-since, c.cancel)
		}
	}
	c.in = filtered{l, c.in}
}
