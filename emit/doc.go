// Package emit raises the garbage collection events of .NET from a Go program,
// so that what reads those reads it too: gctrail, dotnet-trace, PerfView,
// Visual Studio.
//
// A Provider raises events. A Session writes those that it asks for to a file,
// as a .nettrace of version 4 or 6 or as an LTTng trace, or hands them to the ETW
// of Windows; several may run at once, each with keywords and levels of its own.
// An event that no session asks for is not written, and costs a load and a test
// if the caller asks first:
//
//	if p.Enabled(clr.KindGCAllocationTick) {
//		p.Raise(&clr.GCAllocationTick{AllocationAmount64: n, TypeName: name})
//	}
//
// A Collector raises the events of whole collections, in the order in which the
// runtime raises them, and refuses steps that are out of order. Custom events of
// the program's own carry their description with them.
//
// Serve lets .NET's diagnostics clients collect the events while the program
// runs.
//
// # Order, threads and loss
//
// Go has no threads that an event could name. Events carry the logical thread
// that raised them, see Thread, or none in particular. They are captured by a
// small fixed set of shards, each in time order, which a trace presents as
// its capturing threads.
//
// A session holds events in a buffer of bounded size until its writer takes
// them. If the writer is too slow, the newest events are dropped and counted, or
// the program waits, if the session asks for that. A trace tells what was
// dropped, as the runtime's do.
//
// The order of events is that of the runtime (gc.cpp in dotnet/runtime), the
// rules of who gets an event those of ep-provider.c and ep-event.c in its
// src/native/eventpipe.
package emit
