package gc

import (
	"math"
	"time"

	"github.com/gctrail/gctrail/clr"
)

// A reported pause was timed by the runtime itself, with GCPause.
type reported struct {
	at       time.Duration // when it was reported: at its end
	duration time.Duration
}

const (
	// maxReported bounds the reported pauses of a collection, which has two at most.
	maxReported = 3
	// maxPause is longer than any pause, in microseconds: 30 days.
	maxPause = 30 * 24 * 3600 * 1e6
)

func (m *Model) pause(e *event) {
	v, ok := decode[clr.GCPause](m, e)
	rt := m.raisedBy(e, v.ClrInstanceID, ok)
	if rt == nil {
		return
	}
	if v.CollectionIndex > math.MaxUint32 || v.DurationMicroseconds > maxPause {
		m.drop(e.Time)
		return
	}
	if b := rt.find(uint32(v.CollectionIndex)); b != nil && len(b.reported) < maxReported {
		b.reported = append(b.reported, reported{e.Time, time.Duration(v.DurationMicroseconds) * time.Microsecond})
	}
}

// useReported takes the lengths of the pauses from the runtime if it reported all of
// them: it counts them so in GC.GetTotalPauseDuration. It knows of pauses, too, whose
// suspensions are not in the trace.
func (b *building) useReported() {
	kinds := []PauseKind{PauseBlocking}
	if b.Kind == Background {
		kinds = []PauseKind{PauseInitial, PauseFinal}
	}
	if len(b.reported) != len(kinds) || b.windows > 0 {
		return
	}
	switch len(b.Pauses) {
	case len(kinds):
	case 0:
		for i, r := range b.reported {
			p := Pause{Kind: kinds[i], Start: max(0, r.at-r.duration)}
			p.window.From, p.window.To = p.Start, r.at
			b.Pauses = append(b.Pauses, p)
		}
		b.PauseStart = Some(b.Pauses[0].Start)
		if start, known := b.Start.Get(); known && start < b.Pauses[0].Start {
			b.PauseStart = Some(start)
		}
	default:
		return
	}
	for i, r := range b.reported {
		p := &b.Pauses[i]
		p.Duration = r.duration
		p.window.To = max(p.window.To, p.End())
	}
	b.AllPauses = true
}
