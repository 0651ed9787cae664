package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestReportWithoutGC checks a report on the bytes that a process without GCs allocated:
// as counted by allocation ticks, and otherwise unknown, never 0.
func TestReportWithoutGC(t *testing.T) {
	const (
		header = `trace
clock seconds=1700000000
stream 0 context=[i32:vpid i32:vtid]
event 0 DotNETRuntime:GCTriggered fields=[u32:Reason u16:ClrInstanceID]
event 1 DotNETRuntime:GCStart_V2 fields=[u32:Count u32:Depth u32:Reason u32:Type u16:ClrInstanceID u64:ClientSequenceNumber]
event 2 DotNETRuntime:GCAllocationTick_V1 fields=[u32:AllocationAmount u32:AllocationKind u16:ClrInstanceID]
`
		begin = "file c_0\npacket begin=0 end=4000000000 discarded=0\n  ev 0 time=1 context=[7 8] 0 0\n"
		tick  = "  ev 2 time=1000000000 context=[7 8] 3000000 0 0\n"
		end   = "  ev 0 time=4000000000 full 0 0\n"
	)
	type row struct {
		PID          int     `json:"pid"`
		Allocated    *int64  `json:"allocated_bytes"`
		AllocatedIs  *string `json:"allocated_is"`
		AllocatedMax *int64  `json:"allocated_max_bytes"`
	}
	for name, test := range map[string]struct {
		events, says string
		allocated    int64 // 0 if unknown
	}{
		"ticks":    {begin + tick + tick + end, "pid 7 allocated ~6.00 MB, by allocation ticks.", 6e6},
		"no ticks": {begin + end, "Allocated bytes are unknown: no GC counted them, and the trace has no allocation ticks.", 0},
		"loss":     {strings.Replace(begin, "discarded=0", "discarded=1", 1) + tick + end, "events are missing", 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := assembleCTF(t, header+test.events)
			out := strings.Join(strings.Fields(report80(t, path)), " ")
			if !strings.Contains(out, test.says) || name == "loss" && strings.Contains(strings.ToLower(out), " allocated ") {
				t.Errorf("want %q in:\n%s", test.says, out)
			}
			var got struct {
				All []row `json:"processes_without_gc"`
			}
			written, _, _ := on(t, 0, "report", "--format", "json", path)
			if err := json.Unmarshal([]byte(written), &got); err != nil {
				t.Fatal(err)
			}
			switch {
			case test.allocated == 0:
				if len(got.All) > 0 && got.All[0].Allocated != nil {
					t.Errorf("not known: %+v", got.All)
				}
			case len(got.All) != 1 || got.All[0].PID != 7 || got.All[0].Allocated == nil:
				t.Errorf("got %+v", got.All)
			case *got.All[0].Allocated != test.allocated || *got.All[0].AllocatedIs != "estimate":
				t.Errorf("got %+v, want an estimate of %d", got.All[0], test.allocated)
			case got.All[0].AllocatedMax != nil: // whether it is server GC, with many heaps, is unknown
				t.Errorf("bounded by %d", *got.All[0].AllocatedMax)
			}
		})
	}
}
