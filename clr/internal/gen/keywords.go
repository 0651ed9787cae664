package main

import "fmt"

// levels are the numbers of the manifest's levels.
var levels = map[string]int{"LogAlways": 0, "Error": 2, "Informational": 4, "Verbose": 5}

// keywords are the manifest's. Those of the private provider end in Private.
var keywords = map[string]uint64{
	"GC":                            0x1,
	"GCHandle":                      0x2,
	"Loader":                        0x8,
	"Jit":                           0x10,
	"NGen":                          0x20,
	"Exception":                     0x8000,
	"Threading":                     0x10000,
	"JittedMethodILToNativeMap":     0x20000,
	"Type":                          0x80000,
	"GCHeapDump":                    0x100000,
	"GCSampledObjectAllocationHigh": 0x200000,
	"GCHeapSurvivalAndMovement":     0x400000,
	"GCHeapCollect":                 0x800000,
	"GCHeapAndTypeNames":            0x1000000,
	"GCSampledObjectAllocationLow":  0x2000000,
	"PerfTrack":                     0x20000000,
	"Stack":                         0x40000000,
	"Monitoring":                    0x200000000,
	"CompilationDiagnostic":         0x2000000000,
	"AllocationSampling":            0x80000000000,

	"GCPrivate":       0x1,
	"InteropPrivate":  0x2000,
	"GCHandlePrivate": 0x4000,
}

// checkEvent verifies an event's level and keywords.
func checkEvent(e *event) error {
	if _, ok := levels[e.Level]; !ok {
		return fmt.Errorf("no level %q", e.Level)
	}
	for _, k := range e.Keywords {
		if keywords[k] == 0 {
			return fmt.Errorf("no keyword %q", k)
		}
	}
	return nil
}

// mask returns the event's keywords as bits.
func (e *event) mask() (bits uint64) {
	for _, k := range e.Keywords {
		bits |= keywords[k]
	}
	return bits
}
