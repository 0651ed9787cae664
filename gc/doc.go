// Package gc rebuilds the garbage collections of .NET processes from their
// events: what was collected and why, how long the program's threads stood
// still for it, how large each generation was before and after, and how much
// memory was freed.
//
// One state machine, Model, serves files and live streams alike. Collections
// runs it over a trace.Source, such as a nettrace.Reader whose filter is Wants:
//
//	var model gc.Model
//	for c, err := range model.Collections(src) { … }
//
// Which event says what, and where the figures come from, is told in
// docs/figures.md; the sources are the runtime's gc.cpp, gcrecord.h and
// gceventstatus.h, and what real traces were found to hold.
package gc
