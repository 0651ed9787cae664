package whatif

import "math"

// StaticData is the data of a generation that does not change while a program runs. See
// static_data_table in dynamic_tuning.cpp; sizes are in bytes.
type StaticData struct {
	Min, Max        float64
	Limit, MaxLimit float32 // growth at no survival, and the most there is
}

const (
	gen0 = iota
	gen1
	gen2
	loh
	poh
	generations
)

const (
	kib       = 1 << 10
	mib       = 1 << 20
	unlimited = math.MaxInt64 // SSIZE_T_MAX
)

// statics returns the table for the default of GCLatencyLevel: no event has the level. Gen 0's
// sizes depend on the machine's caches and on settings, and gen 1's maximum on the size of
// segments: zero here.
func statics(server bool) [generations]StaticData {
	large := StaticData{Min: 3 * mib, Max: unlimited, Limit: 1.25, MaxLimit: 4.5}
	table := [generations]StaticData{
		{Limit: 9, MaxLimit: 20},
		{Min: 256 * kib, Limit: 2, MaxLimit: 7},
		{Min: 256 * kib, Max: unlimited, Limit: 1.2, MaxLimit: 1.8},
		large,
		large,
	}
	if server {
		table[gen0].Limit, table[gen0].MaxLimit = 20, 40
	}
	return table
}
