// Package gogc raises Go's own garbage collections as the events of .NET, so that
// Go and .NET services can be looked at with one tool.
//
//	opt := gogc.Options{}
//	p, err := gogc.NewProvider(opt)
//	session, err := p.Create("app.nettrace", emit.SessionOptions{Providers: gogc.Wanted()})
//	source, err := gogc.Start(p, opt)
//	…
//	source.Stop()
//	err = session.Close()
//
// # What becomes what
//
// A cycle of Go's collector becomes a background collection of generation 2: Go
// has no generations, and marks and sweeps while the program runs. Its number is
// Go's own (debug.GCStats.NumGC).
//
//   - Pauses. Go stops the program twice in a cycle, and tells the sum of both
//     and when the second one ended (debug.GCStats.Pause and PauseEnd), to the
//     nanosecond. The whole sum is raised as the final pause, which ends at that
//     time; the first pause has no length. So the collection's pause_ms is
//     exact, and its division into two is not known. With Options.ExactPauses it
//     is, from Go's execution trace.
//   - Start. Go does not tell when a cycle began. GCStart is raised where the
//     pause begins, so that the collection's duration_ms is no longer than its
//     pause: it is not the length of the cycle, but with ExactPauses.
//   - Suspension. Go does not tell how long the threads took to stop for a
//     cycle. SuspendEEEnd is not raised, and suspend_ms is unknown.
//   - Reason. Induced for runtime.GC and its like, AllocSmall for cycles that the
//     runtime began, Empty if there were both since the source last looked.
//   - Heap after. GCHeapStats has what the cycle found live
//     (/gc/heap/live:bytes) as the size of generation 2, and as promoted. Go
//     tells it of the latest cycle only: an earlier one, which ended since the
//     source last looked, has no GCHeapStats, and readers call it incomplete.
//   - Heap before, freed and allocated bytes of a cycle: Go does not tell them,
//     so there are no histories.
//
// What .NET has no event for is raised as GoCycle of the provider Go.GC: the heap
// goal, bytes allocated so far, and the CPU time that marking took from assisting
// goroutines, dedicated workers, idle processors and pauses since the event
// before. GoPauses has the exact pauses of a cycle, each in nanoseconds.
//
// The trace's end names .NET 10.0.0 as the runtime, since there is no room for
// another name; the command line is the program's own.
package gogc
