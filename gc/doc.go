// Package gc rebuilds the garbage collections of .NET processes from their
// events: what was collected and why, how long the program's threads were paused,
// how large each generation was before and after, and how much memory was freed.
//
// One state machine, Model, serves files and live streams alike. Collections
// runs it over a trace.Source, such as a nettrace.Reader whose filter is Wants:
//
//	var model gc.Model
//	for c, err := range model.Collections(src) { … }
//
// docs/figures.md defines each figure and names its events. The sources are the
// runtime's gc.cpp, gcrecord.h and gceventstatus.h, and real traces.
package gc
