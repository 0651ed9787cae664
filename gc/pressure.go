package gc

import "github.com/gctrail/gctrail/clr"

// Pressure sums up the calls of GC.AddMemoryPressure and
// GC.RemoveMemoryPressure, which the runtime reports at level verbose.
type Pressure struct {
	Increases, Decreases int
	Added, Removed       int64 // bytes
}

// increasePressure is raised for each call of GC.AddMemoryPressure.
func (m *Model) increasePressure(e *event) {
	if v, ok := decode[clr.IncreaseMemoryPressure](m, e); ok && plausible(v.BytesAllocated) {
		p := &e.process.Pressure
		p.Increases++
		p.Added = saturated(p.Added, v.BytesAllocated)
	}
}

func (m *Model) decreasePressure(e *event) {
	if v, ok := decode[clr.DecreaseMemoryPressure](m, e); ok && plausible(v.BytesFreed) {
		p := &e.process.Pressure
		p.Decreases++
		p.Removed = saturated(p.Removed, v.BytesFreed)
	}
}

// saturated adds a plausible size to a sum, which stays in the range that is
// plausible for a sum of sizes.
func saturated(sum int64, n uint64) int64 { return min(sum+int64(n), 1<<62) }
