// Package perfview rebuilds collections as TraceEvent does, the library behind
// PerfView, so that figures can be compared with those of PerfView's GCStats and of
// tools that rest on the same library, to the digits that they print.
//
// Package gc attributes the same events by thread and number, and its figures
// agree with what the runtime itself reports. TraceEvent goes by position: its
// pauses end at RestartEEEnd, and histories that arrive late count for a neighbour.
// Each Column says where its definition differs.
//
// The rules are those of TraceManagedProcess.cs and GcStats.cs of
// microsoft/perfview (3.1, 2025), written anew. What a process's CPU samples, thread
// names or .NET Framework 4.0 would add is left out.
package perfview
