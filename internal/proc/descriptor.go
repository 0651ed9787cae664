package proc

import (
	"slices"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/trace"
)

// descriptors describes the provider's events with their fields, so that every reader of
// traces can show them.
var descriptors = map[clr.Kind]*trace.Descriptor{
	clr.KindProcessLimits: describe(clr.KindProcessLimits,
		field("Processors", trace.Uint32), field("MachineProcessors", trace.Uint32),
		field("QuotaMicroseconds", trace.Uint64), field("PeriodMicroseconds", trace.Uint64),
		field("MemoryLimit", trace.Uint64), field("Settings", trace.UTF16String)),
	clr.KindProcessThreadTime: describe(clr.KindProcessThreadTime,
		field("Threads", trace.Uint32), field("RunNanoseconds", trace.Uint64), field("WaitNanoseconds", trace.Uint64),
		field("WaitUnknown", trace.Boolean)),
	clr.KindProcessThrottling: describe(clr.KindProcessThrottling,
		field("Periods", trace.Uint64), field("ThrottledPeriods", trace.Uint64), field("ThrottledNanoseconds", trace.Uint64)),
	clr.KindMachinePressure: describe(clr.KindMachinePressure, field("WaitMicroseconds", trace.Uint64)),
	clr.KindCgroupPressure:  describe(clr.KindCgroupPressure, field("WaitMicroseconds", trace.Uint64)),
	clr.KindMachineTime: describe(clr.KindMachineTime,
		field("BusyNanoseconds", trace.Uint64), field("StolenNanoseconds", trace.Uint64)),
	clr.KindGCThreadTime: describe(clr.KindGCThreadTime,
		field("Threads", trace.Uint32), field("ServerNanoseconds", trace.Uint64), field("BackgroundNanoseconds", trace.Uint64)),
}

func field(name string, t trace.TypeCode) trace.Field { return trace.Field{Name: name, Type: t} }

func describe(k clr.Kind, fields ...trace.Field) *trace.Descriptor {
	latest := slices.Max(slices.Collect(k.Versions()))
	return &trace.Descriptor{Provider: k.Provider(), ID: k.ID(), Version: latest, Name: k.String(), Level: k.Level(), Fields: fields}
}
