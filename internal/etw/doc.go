// Package etw controls sessions of Event Tracing for Windows that write to files, and
// follows the files as they grow, or the collections in them by process. It uses no
// callback, so that a slow reader loses no event.
//
// The calls and their arguments are PerfView's for /GCCollectOnly, with stacks for
// /GCTriggeredStacks (microsoft/perfview, src/TraceEvent/TraceEventSession.cs,
// src/PerfView/CommandProcessor.cs and CommandLineArgs.cs), except for the flush timer: 1
// s instead of 60.
package etw
