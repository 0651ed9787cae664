// Package perfview rebuilds collections as TraceEvent does, the library behind PerfView,
// so that figures can be compared with PerfView's GCStats and other tools that use the
// library, to the digits that they print.
//
// Package gc attributes the same events by thread and number, and its figures agree with
// the runtime's own reports. TraceEvent attributes them by position: its pauses end at
// RestartEEEnd, and histories that arrive late count for another collection. Each Column
// states how its definition differs.
//
// The rules are from TraceManagedProcess.cs and GcStats.cs of microsoft/perfview (3.1,
// 2025), written anew. Figures from CPU samples and thread names, and the events of .NET
// Framework 4.0, are left out.
package perfview
