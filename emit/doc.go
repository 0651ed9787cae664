// Package emit raises the garbage collection events of .NET from a Go program, for all
// tools that read them: gctrail, dotnet-trace, PerfView, Visual Studio.
//
// A Provider raises events. A Session selects events and writes them to a file, as a
// .nettrace of version 4 or 6 or as an LTTng trace, or passes them to the ETW of Windows.
// Several sessions may run at once, each with its own keywords and levels. An event that
// no session selects is not written, and costs a load and a test if the caller checks
// first:
//
//	if p.Enabled(clr.KindGCAllocationTick) {
//		p.Raise(&clr.GCAllocationTick{AllocationAmount64: n, TypeName: name})
//	}
//
// A Collector raises the events of whole collections, in the order in which the runtime
// raises them, and refuses steps that are out of order. Custom events include their own
// description.
//
// Serve lets .NET's diagnostics clients collect the events while the program runs.
//
// # Order, threads and loss
//
// Go programs cannot identify threads. Events therefore have a logical thread (see
// Thread), or none in particular. They are captured by a small fixed set of shards, each
// in time order, which a trace presents as its capturing threads.
//
// A session holds events in a buffer of bounded size until its writer takes them. If the
// writer is too slow, the newest events are dropped and counted, or the program waits, if
// the session asks for that. Like the runtime's, a trace shows how many events were
// dropped.
//
// The order of events follows the runtime (gc.cpp in dotnet/runtime), and sessions select
// events by the rules of ep-provider.c and ep-event.c in its src/native/eventpipe.
package emit
