package etl

const (
	kernelProcessProvider = "Microsoft-Windows-Kernel-Process"
	lostEventProvider     = "Lost_Event"
)

// otherProviders maps GUIDs to the names of the kernel's providers and groups of events
// (evntrace.h defines SystemTraceControlGuid and similar ones), and of the providers that
// PerfView adds when it merges files.
var otherProviders = map[string]string{
	"22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716": kernelProcessProvider,
	"68fdd900-4a3e-11d1-84f4-0000f80464e3": "EventTrace",
	"6a399ae0-4bc6-4de9-870b-3657f8947e7e": lostEventProvider,
	"b3e675d7-2554-4f18-830b-2762732560de": "KernelTraceControl",
	"bbccf6c1-6cd1-48c4-80ff-839482e37671": "MetaData",
	"9b79ee91-b5fd-41c0-a243-4248e266e9d0": "SystemConfig",
}

// groups are the kernel's groups of events, by the upper half of a hook id.
var groups = map[uint8]string{
	0x00: "EventTrace", 0x01: "DiskIo", 0x02: "PageFault", 0x03: "Process", 0x04: "FileIo", 0x05: "Thread",
	0x06: "TcpIp", 0x08: "UdpIp", 0x09: "Registry", 0x0b: "Config", 0x0f: "PerfInfo", 0x11: "Object",
	0x14: "Image", 0x18: "StackWalk",
}

// hookImageLoad is an event of the group of processes that is shown as one of
// images.
const hookImageLoad = 0x030a

// A classic is the manifest's form of an event that was raised the classic way, as the
// .NET Framework did before Windows Vista.
type classic struct {
	provider string
	id       uint32
	level    uint8
	keywords uint64
}

// classics maps the opcodes of the tasks GarbageCollection and GarbageCollectionPrivate
// of the .NET Framework 2.0 to 4.0. The opcodes are from ClrEtwAll.man; 5 to 8 are older
// ones of version 2.0 (ClrTraceEventParser.cs).
var classics = map[string]map[uint8]classic{
	"044973cd-251f-4dff-a3e9-9d6307286b05": {
		1:   {runtimeProvider, 1, 4, 1}, // GCStart
		2:   {runtimeProvider, 2, 4, 1}, // GCEnd
		132: {runtimeProvider, 3, 4, 1}, // GCRestartEEEnd
		8:   {runtimeProvider, 3, 4, 1},
		133: {runtimeProvider, 4, 4, 1}, // GCHeapStats
		5:   {runtimeProvider, 4, 4, 1},
		134: {runtimeProvider, 5, 4, 1}, // GCCreateSegment
		6:   {runtimeProvider, 5, 4, 1},
		135: {runtimeProvider, 6, 4, 1}, // GCFreeSegment
		7:   {runtimeProvider, 6, 4, 1},
		136: {runtimeProvider, 7, 4, 1},  // GCRestartEEBegin
		137: {runtimeProvider, 8, 4, 1},  // GCSuspendEEEnd
		10:  {runtimeProvider, 9, 4, 1},  // GCSuspendEEBegin
		11:  {runtimeProvider, 10, 5, 1}, // GCAllocationTick
		12:  {runtimeProvider, 11, 4, 1}, // GCCreateConcurrentThread
		13:  {runtimeProvider, 12, 4, 1}, // GCTerminateConcurrentThread
		15:  {runtimeProvider, 13, 4, 1}, // GCFinalizersEnd
		19:  {runtimeProvider, 14, 4, 1}, // GCFinalizersBegin
	},
	"2f1b6bf6-18ff-4645-9501-15df6c64c2cf": {
		132: {privateProvider, 1, 4, 1},  // GCDecision
		14:  {privateProvider, 2, 4, 1},  // GCSettings
		16:  {privateProvider, 3, 5, 1},  // GCOptimized
		17:  {privateProvider, 4, 4, 1},  // GCPerHeapHistory
		18:  {privateProvider, 5, 4, 1},  // GCGlobalHeapHistory
		20:  {privateProvider, 6, 5, 1},  // GCJoin
		21:  {privateProvider, 7, 4, 1},  // PrvGCMarkStackRoots
		22:  {privateProvider, 8, 4, 1},  // PrvGCMarkFinalizeQueueRoots
		23:  {privateProvider, 9, 4, 1},  // PrvGCMarkHandles
		24:  {privateProvider, 10, 4, 1}, // PrvGCMarkCards
		25:  {privateProvider, 11, 4, 1}, // BGCBegin
		26:  {privateProvider, 12, 4, 1}, // BGC1stNonConEnd
		27:  {privateProvider, 13, 4, 1}, // BGC1stConEnd
		28:  {privateProvider, 14, 4, 1}, // BGC2ndNonConBegin
		29:  {privateProvider, 15, 4, 1}, // BGC2ndNonConEnd
		30:  {privateProvider, 16, 4, 1}, // BGC2ndConBegin
		31:  {privateProvider, 17, 4, 1}, // BGC2ndConEnd
		32:  {privateProvider, 18, 4, 1}, // BGCPlanEnd
		33:  {privateProvider, 19, 4, 1}, // BGCSweepEnd
		34:  {privateProvider, 20, 4, 1}, // BGCDrainMark
		35:  {privateProvider, 21, 4, 1}, // BGCRevisit
		36:  {privateProvider, 22, 4, 1}, // BGCOverflow
		37:  {privateProvider, 23, 4, 1}, // BGCAllocWaitBegin
		38:  {privateProvider, 24, 4, 1}, // BGCAllocWaitEnd
		19:  {privateProvider, 25, 4, 1}, // GCFullNotify
	},
}
