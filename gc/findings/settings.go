package findings

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
)

// A setting is a value for a setting of the runtime. Names, meaning and defaults
// are from gcconfig.h and the runtime's documentation; the runtime reads
// environment variables as hexadecimal numbers.
type setting struct {
	name, value    string // of the environment variable, without its prefix
	property, json string // in runtimeconfig.json; empty if there is none
	propertySince  int    // the first major version that reads the property
	effect, cost   string

	since     int // the first major version of .NET that reads it; 0 for all
	framework int // the first .NET Framework that reads it, as 48 for 4.8; 0 for none
	flavour   gc.Opt[bool]
	inForce   func(*clr.GCSettingsRundown) bool // whether the value, or more of it, is set already
	datas     gc.Opt[bool]                      // whether it takes DATAS to be on
	fit       func(*judgement) (setting, bool)  // the setting with the value for a case, if there is one; nil for the value above
}

var (
	onlyServer      = gc.Some(true)
	onlyWorkstation = gc.Some(false)
)

var (
	gen0Size = setting{
		name: "GCgen0size", value: "0x8000000", since: 3,
		effect: "gen 0 is collected after 128 MB of allocations or more: fewer GCs. Workstation GC from .NET 7 on gives no more than that, whatever the value",
		cost:   "up to 128 MB more memory for each heap, and more cache misses than with a gen 0 that fits into the L3 cache",
		inForce: func(s *clr.GCSettingsRundown) bool {
			return s.Gen0MinBudgetConfig >= 0x8000000 || s.HardLimit > 0 // under a hard limit there is no room for it
		},
	}
	gen0MaxBudget = setting{
		name: "GCGen0MaxBudget", value: "0x2000000", since: 5,
		property: "System.GC.Gen0MaxBudget", json: "33554432", propertySince: 10,
		effect: "gen 0 is collected after at most 32 MB of allocations on each heap: a lower peak",
		cost:   "more GCs, hence more time paused",
		inForce: func(s *clr.GCSettingsRundown) bool {
			return s.Gen0MaxBudgetConfig > 0 && s.Gen0MaxBudgetConfig <= maxGen0Budget
		},
	}
	conserveMemory = setting{
		name: "GCConserveMemory", value: "0x8", since: 6, framework: 48,
		property: "System.GC.ConserveMemory", json: "8",
		effect: "a blocking gen 2 GC compacts when 20 % of gen 2 and the LOH or more would be free space",
		cost:   "those GCs are blocking: with it, a program that churns large arrays was paused 52 % of the time instead of 14 %, for 53 MB committed instead of 231 MB",
		datas:  gc.Some(false), // DATAS sets it to 5 itself (gc.cpp, init_gc_heap)
	}
	leastConserve = setting{
		name: "GCConserveMemory", value: "0x1", since: 8, flavour: onlyServer, datas: gc.Some(true),
		property: "System.GC.ConserveMemory", json: "1",
		effect: "a blocking gen 2 GC compacts only when 90 % of gen 2 or more would be free space; 0 stands for DATAS's own value, 5",
		cost:   "more free space in gen 2",
	}
	hardLimitPercent = setting{
		name: "GCHeapHardLimitPercent", value: "0x32", since: 3,
		property: "System.GC.HeapHardLimitPercent", json: "50",
		effect: "the heap commits at most 50 % of the memory",
		cost:   "an allocation beyond that throws OutOfMemoryException: leave room above what is live",
		inForce: func(s *clr.GCSettingsRundown) bool {
			return s.HardLimit > 0
		},
	}
	usualHighMem = setting{
		name: "GCHighMemPercent", value: "0x5A", since: 5,
		property: "System.GC.HighMemoryPercent", json: "90",
		effect: "memory counts as scarce from a load of 90 % on, as it does without the setting on most machines",
		cost:   "the heap may be larger",
	}
	highMemPercent = setting{
		name: "GCHighMemPercent", value: "0x5F", since: 5,
		property: "System.GC.HighMemoryPercent", json: "95",
		effect: "memory counts as scarce from a load of 95 % on",
		cost:   "the machine may swap: use it only where a load of 90 % leaves plenty of memory",
		inForce: func(s *clr.GCSettingsRundown) bool {
			return s.HighMemPercentConfig >= 0x5F
		},
	}
	lohThreshold = thresholdOf(lohThresholds[0]).with(func(j *judgement) (setting, bool) {
		limit, _, ok := j.threshold()
		return thresholdOf(limit), ok
	})
	serverGC = setting{
		name: "gcServer", value: "0x1", framework: 20, flavour: onlyWorkstation,
		property: "System.GC.Server", json: "true",
		effect: "one heap and one GC thread for each processor, and larger budgets",
		cost:   "more memory, and all processors busy in each pause",
	}
	workstationGC = setting{
		name: "gcServer", value: "0x0", framework: 20, flavour: onlyServer,
		property: "System.GC.Server", json: "false",
		effect: "one heap, collected by the thread that allocates",
		cost:   "GCs of a large heap take longer",
	}
	fewerHeaps = heapCountOf(4).with(func(j *judgement) (setting, bool) {
		n := j.fewerHeaps()
		return heapCountOf(n), n > 0
	})
	theseHeaps = heapCountOf(4).with(func(j *judgement) (setting, bool) {
		n := j.Summary.Heap.MaxHeaps
		return heapCountOf(n), n > 0
	})
	higherLimit = hardLimitOf(200 << 20).with(func(j *judgement) (setting, bool) {
		limit, configured := j.hardLimit()
		return hardLimitOf(limit + limit/2), configured
	})
	concurrentGC = setting{
		name: "gcConcurrent", value: "0x1", framework: 40,
		property: "System.GC.Concurrent", json: "true",
		effect: "gen 2 is collected while threads run",
		cost:   "one more thread, and gen 2 is compacted less often",
		inForce: func(s *clr.GCSettingsRundown) bool {
			return s.BitSettings&clr.GCSettingsBitsConcurrent != 0
		},
	}
	gen0Growth = setting{
		name: "GCDGen0GrowthPercent", value: "0x12C", since: 10, flavour: onlyServer,
		property: "System.GC.DGen0GrowthPercent", json: "300",
		effect: "DATAS gives gen 0 three times the budget that it computes from the live size: fewer GCs, and it still adapts",
		cost:   "more memory, though less than without DATAS",
	}
	noDATAS = setting{
		name: "GCDynamicAdaptationMode", value: "0x0", since: 8, flavour: onlyServer,
		property: "System.GC.DynamicAdaptationMode", json: "0",
		effect: "a fixed number of heaps and larger gen 0 budgets, as before .NET 9",
		cost:   "the heap no longer shrinks with the load",
	}
)

// hardLimitOf returns the setting for a hard limit.
func hardLimitOf(limit uint64) setting {
	return setting{
		name: "GCHeapHardLimit", value: fmt.Sprintf("0x%X", limit), since: 3,
		property: "System.GC.HeapHardLimit", json: strconv.FormatUint(limit, 10),
		effect: fmt.Sprintf("the heap may commit %s", units.Bytes(int64(limit))),
		cost:   "the memory must be available: raise the container's limit too",
	}
}

// thresholdOf returns the setting for a threshold of the LOH.
func thresholdOf(size uint64) setting {
	return setting{
		name: "GCLOHThreshold", value: fmt.Sprintf("0x%X", size), since: 3, framework: 48,
		property: "System.GC.LOHThreshold", json: strconv.FormatUint(size, 10),
		effect:  fmt.Sprintf("objects below %s bytes are allocated in gen 0", units.Count(int(size))),
		cost:    "survivors of that size are copied; larger objects still go to the LOH",
		inForce: func(s *clr.GCSettingsRundown) bool { return s.LOHThreshold >= size },
	}
}

// maxGen0Budget is the proposed value of GCGen0MaxBudget.
const maxGen0Budget = 0x2000000

// heapCountOf returns the setting for a number of heaps.
func heapCountOf(n int) setting {
	return setting{
		name: "GCHeapCount", value: fmt.Sprintf("0x%X", n), since: 3, framework: 46, flavour: onlyServer,
		property: "System.GC.HeapCount", json: strconv.Itoa(n),
		effect: plural(n, "heap") + " instead of one for each processor",
		cost:   "the GC threads run on as many processors only, the first ones, and DATAS is switched off",
	}
}

// with returns a setting whose value depends on the case; s stands for it in documents.
func (s setting) with(fit func(*judgement) (setting, bool)) setting {
	s.fit = fit
	return s
}

// fewerHeaps returns a number of heaps to try: a fair share of the processors for each
// process with server GC, or half of the present number.
func (j *judgement) fewerHeaps() int {
	now, n := j.Summary.Heap.MaxHeaps, j.Summary.Heap.MaxHeaps/2
	if t := &j.Trace; t.Servers > 1 && t.CPUs > 0 {
		n = max(1, t.CPUs/t.Servers)
	}
	if n >= now {
		return 0
	}
	return n
}

// datas reports whether a process is known to adapt its heaps to the program.
func datas(p *gc.Process) bool {
	return p != nil && p.Adaptation.Known()
}

// mayAdapt reports whether DATAS may be on: the runtime has it, and the GC is server GC, as
// far as these are known.
func mayAdapt(p *gc.Process) bool {
	v := versionOf(p)
	return p != nil && p.Server.Or(true) && (!v.known || !v.framework && v.major >= 8)
}

// version is the runtime of a process.
type version struct {
	known     bool
	framework bool
	major     int // of the .NET Framework: 48 for 4.8, as far as its build number shows
}

func versionOf(p *gc.Process) version {
	if p == nil {
		return version{}
	}
	i := strings.LastIndexByte(p.Runtime, ' ')
	name, number := p.Runtime[:max(i, 0)], p.Runtime[i+1:]
	first, _, _ := strings.Cut(number, ".")
	major, err := strconv.Atoi(first)
	if i < 0 || err != nil {
		return version{}
	}
	if name == ".NET Framework" {
		return version{known: true, framework: true, major: frameworkOf(number)}
	}
	if name == ".NET Core" && major == 4 { // the class libraries of .NET Core 2 and 3 have this version
		major = 3
	}
	return version{known: true, major: major}
}

// frameworkOf returns the .NET Framework version of a build number:
// 4.0.30319.BUILD up to 4.5.2, 4.6 to 4.8 by their own numbers.
func frameworkOf(number string) int {
	parts := strings.Split(number, ".")
	if len(parts) < 2 {
		return 40
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major*10 + min(minor, 9)
}

// of returns the setting as the runtime of a process reads it. ok is false if the
// runtime or its flavour of GC does not read it, or the value is set already.
func (s *setting) of(p *gc.Process) (Setting, bool) {
	v := versionOf(p)
	switch {
	case v.framework && (s.framework == 0 || v.major < s.framework):
		return Setting{}, false
	case v.known && !v.framework && v.major < s.since:
		return Setting{}, false
	case s.flavour.Known() && p.Server.Known() && s.flavour.Or(false) != p.Server.Or(false):
		return Setting{}, false
	case s.inForce != nil && p.Settings != nil && s.inForce(p.Settings):
		return Setting{}, false
	case s.datas.Known() && s.datas.Or(false) != datas(p):
		return Setting{}, false
	}
	out := s.as(v)
	if v.framework || v.known && v.major < s.propertySince {
		out.Property, out.JSON = "", ""
	}
	return out, true
}

// latest returns the setting as the latest runtime reads it.
func (s *setting) latest() Setting {
	out := s.as(version{})
	if s.propertySince > s.since {
		out.Since += fmt.Sprintf(", in runtimeconfig.json .NET %d", s.propertySince)
	}
	return out
}

// as returns the setting with the prefix of a runtime's variables.
func (s *setting) as(v version) Setting {
	return Setting{
		Variable: prefix(v) + s.name, Value: s.value, Property: s.property, JSON: s.json,
		Effect: s.effect, Cost: s.cost, Since: s.sinceText(),
	}
}

// prefix returns the prefix of a runtime's environment variables. .NET 6 and later
// read both prefixes, and document DOTNET_.
func prefix(v version) string {
	if v.framework || v.known && v.major < 6 {
		return "COMPlus_"
	}
	return "DOTNET_"
}

func (s *setting) sinceText() string {
	switch {
	case s.since == 0:
		return ""
	case s.since < 5:
		return fmt.Sprintf(".NET Core %d", s.since)
	default:
		return fmt.Sprintf(".NET %d", s.since)
	}
}
