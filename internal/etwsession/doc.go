// Package etwsession controls sessions of Event Tracing for Windows that write to
// files, and follows those files as they grow. Windows lacks nothing else for that: no
// callback takes part, so that no event is lost because the reader is slow.
//
// The calls and their arguments are those of PerfView's /GCCollectOnly, with stacks those
// of its /GCTriggeredStacks (microsoft/perfview, src/TraceEvent/TraceEventSession.cs,
// src/PerfView/CommandProcessor.cs and CommandLineArgs.cs), but for the flush timer: 1 s
// instead of 60.
package etwsession
