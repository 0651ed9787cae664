// Package lttngsession controls sessions of LTTng through its command lttng. A session
// writes the tracepoints of the .NET runtime to a folder, which package ctf reads.
//
// The contexts are the ones of perfcollect (dotnet/perftools). Like perfcollect, it names
// the tracepoints one by one, because a pattern would enable the heap dumps of GCHeapDump
// too, which cost collections.
package lttngsession
