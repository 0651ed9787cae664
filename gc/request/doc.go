// Package request follows the requests of a program, and measures for how long each was paused
// by the GC.
//
// A request is a span of work: a System.Diagnostics.Activity between its start and its stop, as
// ASP.NET Core, HttpClient and any ActivitySource make them. The provider
// Microsoft-Diagnostics-DiagnosticSource reports them if a session asks for it with a filter
// (FilterAndPayloadSpecs); see DiagnosticSourceEventSource.cs in the runtime. Threads are
// suspended for all spans of a process alike, so that a span's paused time is the part of it in
// which they were.
//
// A Model is made of two models of gc/pass:
//
//	var model request.Model
//	for c, err := range collections.Collections(src, model.Models()...) {
//		model.Collected(c)
//	}
//	for _, p := range model.Processes() { … }
package request
