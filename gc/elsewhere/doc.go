// Package elsewhere sums up what a program's time goes to besides garbage collection: waiting
// for locks, compiling methods, loading types, exceptions, and a thread pool that lacks threads.
//
// The runtime raises the events of each only where a session asks for it: with the keywords
// Contention, Jit (at level Verbose), TypeDiagnostic, Exception and Threading. A Model is given to
// a reading of a trace beside others:
//
//	var model elsewhere.Model
//	for c, err := range collections.Collections(src, model.Models()...) { … }
//	sum := model.Of(pid)
package elsewhere
