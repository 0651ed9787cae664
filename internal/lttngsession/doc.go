// Package lttngsession controls sessions of LTTng through its command lttng. A session
// writes the tracepoints of the .NET runtime to a folder, which package ctf reads.
//
// The contexts are those of perfcollect (dotnet/perftools), which names the tracepoints
// one by one as well: a pattern would enable the heap dumps of GCHeapDump too, and
// those cost collections.
package lttngsession
