// Package lttng controls sessions of LTTng through its command lttng, and receives traces
// from its relay daemon while they are recorded, through the daemon's protocol for viewers
// (lttng-tools, src/bin/lttng-relayd/lttng-viewer-abi.h). Either way the tracepoints of the
// .NET runtime end up in a folder that package ctf reads.
//
// The contexts of a session are the ones of perfcollect (dotnet/perftools). Like perfcollect,
// it names the tracepoints one by one, because a pattern would enable the heap dumps of
// GCHeapDump too, which cost collections.
package lttng
