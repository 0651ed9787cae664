package proc

import (
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// descriptors describes the provider's events with their fields, so that every reader of
// traces can show them.
var descriptors = describe(
	clr.KindProcessLimits, clr.KindProcessThreadTime, clr.KindProcessThrottling, clr.KindMachinePressure,
	clr.KindCgroupPressure, clr.KindMachineTime, clr.KindGCThreadTime,
)

func describe(kinds ...clr.Kind) map[clr.Kind]*trace.Descriptor {
	all := make(map[clr.Kind]*trace.Descriptor)
	for _, k := range kinds {
		latest := slices.Max(slices.Collect(k.Versions()))
		all[k] = &trace.Descriptor{
			Provider: k.Provider(), ID: k.ID(), Version: latest, Name: k.String(), Level: k.Level(), Fields: k.Fields(latest),
		}
	}
	return all
}
