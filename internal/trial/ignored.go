package trial

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// ignored says which variables of a setting the runtime does not read, or replaces, as far as
// a run's trace or the runtime's source shows.
func (o *Outcomes) ignored() []string {
	p := o.process()
	var all []string
	for _, v := range o.Variables {
		k, known := knobOf(v.Name)
		switch {
		case !known && strings.HasPrefix(strings.ToLower(v.Name), "gc"):
			all = append(all, "gctrail knows no setting "+v.Name+"; the runtime ignores names that it does not know")
		case p == nil:
		case k.server && p.Server.Known() && !p.Server.Or(true):
			all = append(all, "workstation GC, which the program uses, ignores "+v.Name)
		default:
			if used := replaced(&v, p); used != "" {
				all = append(all, used)
			}
		}
	}
	return all
}

// process returns the process of the first run that has one; nil if none has.
func (o *Outcomes) process() *gc.Process {
	for i := range o.Runs {
		if p := o.Runs[i].Process; p != nil {
			return p
		}
	}
	return nil
}

// mostGen0 is the largest gen 0 budget that workstation GC has from .NET 7 on, as findings
// say of GCgen0size.
const mostGen0 = 128 << 20

// replaced describes the value that the runtime reports in place of a variable's; empty if they
// are equal, or unknown.
func replaced(v *Variable, p *gc.Process) string {
	value, err := strconv.ParseUint(strings.TrimPrefix(v.Value, "0x"), 16, 64)
	if err != nil {
		return ""
	}
	flag := func(used gc.Opt[bool], on, off string) string {
		if is, known := used.Get(); !known || is == (value != 0) {
			return ""
		} else if is {
			return "the runtime uses " + on
		}
		return "the runtime uses " + off
	}
	size := func(used uint64) string {
		if used == value || used == 0 {
			return ""
		}
		return fmt.Sprintf("the runtime uses %s instead of %s", units.Bytes(int64(used)), units.Bytes(int64(value)))
	}
	switch v.Name {
	case "gcServer":
		return flag(p.Server, "server GC", "workstation GC")
	case "gcConcurrent":
		return flag(p.Concurrent, "concurrent GC", "no concurrent GC")
	case "GCgen0size":
		if value > mostGen0 && !p.Server.Or(true) {
			return "workstation GC uses at most 128 MiB from .NET 7 on"
		}
	case "GCLOHThreshold":
		if p.Settings != nil {
			return size(p.Settings.LOHThreshold)
		}
	case "GCHeapHardLimit":
		if p.Settings != nil {
			return size(p.Settings.HardLimit)
		}
	}
	return ""
}
