package clr_test

import (
	"testing"

	"github.com/gctrail/gctrail/clr"
)

func TestTracepoint(t *testing.T) {
	for _, c := range []struct {
		name     string
		provider string
		event    string
		id       uint32
		version  uint32
		level    uint8
		keywords uint64
		known    bool
	}{
		{"DotNETRuntime:GCStart_V2", clr.RuntimeProvider, "GCStart", 1, 2, 4, 1, true},
		{"DotNETRuntime:GCStart", clr.RuntimeProvider, "GCStart", 1, 0, 4, 1, true},
		{"DotNETRuntime:GCTriggered", clr.RuntimeProvider, "GCTriggered", 35, 0, 4, 1, true},
		{"DotNETRuntime:GCHeapStats_V9", clr.RuntimeProvider, "GCHeapStats", 4, 9, 4, 1, true},
		{"DotNETRuntimePrivate:PrvSetGCHandle", clr.PrivateProvider, "PrvSetGCHandle", 194, 0, 5, 0x4000, true},
		{"DotNETRuntime:MethodLoadVerbose", clr.RuntimeProvider, "MethodLoadVerbose", 0, 0, 0, 0, false},
		{"DotNETRuntime:Unheard_V1", clr.RuntimeProvider, "Unheard", 0, 1, 0, 0, false},
		{"DotNETRuntimeStress:Any_Vx", clr.StressProvider, "Any_Vx", 0, 0, 0, 0, false},
		{"sched_switch", "", "", 0, 0, 0, 0, false},
		{"other:GCStart_V2", "", "", 0, 0, 0, 0, false},
	} {
		d, known := clr.Tracepoint(c.name)
		if known != c.known || d.Provider != c.provider || d.Name != c.event || d.ID != c.id || d.Version != c.version ||
			d.Level != c.level || d.Keywords != c.keywords || d.RawStructs != (c.provider != "") {
			t.Errorf("%s: %+v, %t", c.name, d, known)
		}
	}
}
