package gogc

import (
	"runtime/metrics"

	"github.com/gctrail/gctrail/clr"
)

// readings are values of package runtime/metrics, since the program's start or of its
// latest cycle.
type readings struct {
	cycles, forced                 uint64
	live, goal, allocated          uint64  // bytes
	assist, dedicated, idle, pause float64 // seconds of CPU time
}

func readMetrics() (r readings) {
	samples := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/cycles/forced:gc-cycles"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/heap/goal:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		{Name: "/cpu/classes/gc/pause:cpu-seconds"},
	}
	metrics.Read(samples)
	for i, to := range []*uint64{&r.cycles, &r.forced, &r.live, &r.goal, &r.allocated} {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			*to = samples[i].Value.Uint64()
		}
	}
	for i, to := range []*float64{&r.assist, &r.dedicated, &r.idle, &r.pause} {
		if samples[5+i].Value.Kind() == metrics.KindFloat64 {
			*to = samples[5+i].Value.Float64()
		}
	}
	return r
}

// reason returns that of the cycles since an earlier reading.
func (r *readings) reason(before readings) clr.GCReason {
	switch forced := r.forced - before.forced; forced {
	case 0:
		return clr.GCReasonAllocSmall
	case r.cycles - before.cycles:
		return clr.GCReasonInduced
	default:
		return clr.GCReasonEmpty
	}
}
