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
