package main

import (
	"fmt"
	"strings"
)

// levels are the numbers of the manifest's levels.
var levels = map[string]int{"": 0, "LogAlways": 0, "Informational": 4, "Verbose": 5}

// keywords are the manifest's. Those of the private provider end in Private.
var keywords = map[string]uint64{
	"GC":                            0x1,
	"GCHandle":                      0x2,
	"Threading":                     0x10000,
	"Type":                          0x80000,
	"GCHeapDump":                    0x100000,
	"GCSampledObjectAllocationHigh": 0x200000,
	"GCHeapSurvivalAndMovement":     0x400000,
	"GCHeapCollect":                 0x800000,
	"GCHeapAndTypeNames":            0x1000000,
	"GCSampledObjectAllocationLow":  0x2000000,
	"Stack":                         0x40000000,
	"AllocationSampling":            0x80000000000,

	"GCPrivate":       0x1,
	"InteropPrivate":  0x2000,
	"GCHandlePrivate": 0x4000,
}

// tracepointsFile has what a tracepoint's name stands for.
func (t *table) tracepointsFile() *writer {
	w := &writer{}
	w.p("// tracepoints are the events by the names that they have in LTTng traces,")
	w.p("// without their versions.")
	w.p("var tracepoints = map[string]tracepoint{")
	for _, p := range t.Providers {
		provider, ok := strings.CutPrefix(p.Name, "Microsoft-Windows-DotNET")
		if !ok {
			continue
		}
		for _, e := range p.Events {
			var bits uint64
			for _, k := range e.Keywords {
				if keywords[k] == 0 {
					panic(fmt.Sprintf("%s: keyword %s", e.Name, k))
				}
				bits |= keywords[k]
			}
			w.p("%q: {%d, Kind%s, %d, %#x},", "DotNET"+provider+":"+e.Name, e.ID, e.goName(), levels[e.Level], bits)
		}
	}
	w.p("}")
	return w
}
