package report

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/clr"
)

// figureEvents are the events that figures need.
var figureEvents = []struct {
	figures string
	kinds   []clr.Kind
}{
	{"when collections began and ended", []clr.Kind{clr.KindGCStart, clr.KindGCEnd}},
	{"pauses", []clr.Kind{clr.KindGCSuspendEEBegin, clr.KindGCSuspendEEEnd, clr.KindGCRestartEEBegin, clr.KindGCRestartEEEnd}},
	{"sizes", []clr.Kind{clr.KindGCHeapStats, clr.KindGCPerHeapHistory, clr.KindGCGlobalHeapHistory}},
	{"allocation", []clr.Kind{clr.KindGCAllocationTick}},
}

// enableEvents enables all events about collections, by name.
const enableEvents = "lttng enable-event --userspace 'DotNETRuntime:GC*'"

// undeclared names the events that figures need and that were not enabled. It
// is empty if all were.
func (rep *Report) undeclared() string {
	var lacking []string
	for _, f := range figureEvents {
		var names []string
		for _, k := range f.kinds {
			if !clr.Declared(rep.info, k) {
				names = append(names, k.String())
			}
		}
		if names != nil {
			lacking = append(lacking, fmt.Sprintf("%s (%s)", f.figures, strings.Join(names, ", ")))
		}
	}
	return strings.Join(lacking, "; ")
}
