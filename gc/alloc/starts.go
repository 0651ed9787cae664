package alloc

import (
	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/pass"
)

// BySource holds bytes, by Source.
type BySource [numSources]float64

// A start is the beginning of a collection.
type start struct {
	pid    uint64
	number uint32
}

// maxStarts bounds the collections whose start is retained: more than are held back.
const maxStarts = 1 << 15

// started retains the sums of a process when a collection begins.
func (m *Model) started(p *process, e *pass.Event) {
	v, ok := pass.Decode[clr.GCStart](e)
	if !ok || len(m.starts) == maxStarts {
		return
	}
	if m.starts == nil {
		m.starts = make(map[start]BySource)
	}
	var sums BySource
	totals := &p.totals
	for source := range totals {
		for heap := range totals[source] {
			sums[source] += totals[source][heap].bytes
		}
	}
	m.starts[start{e.PID, v.Count}] = sums
}

// TakeBefore returns the sums of a process in the trace when a collection began, and
// forgets them; false if they are unknown.
func (m *Model) TakeBefore(pid uint64, number uint32) (BySource, bool) {
	k := start{pid, number}
	sums, known := m.starts[k]
	delete(m.starts, k)
	return sums, known
}
