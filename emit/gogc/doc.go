// Package gogc raises Go's own garbage collections as the events of .NET, so
// that one tool shows Go and .NET services.
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
//   - Pauses. Go stops the program twice in a cycle, and reports the sum of
//     both pauses and the end of the second (debug.GCStats.Pause and PauseEnd),
//     to the nanosecond. The whole sum is raised as the final pause, which ends
//     at that time; the first pause has no length. The collection's pause_ms is
//     therefore exact, but its division into two pauses is unknown. With
//     Options.ExactPauses, it is known from Go's execution trace.
//   - Start. Go does not report when a cycle began. GCStart is raised at the
//     start of the pause, so the collection's duration_ms is the length of the
//     pause, not of the cycle, except with ExactPauses.
//   - Suspension. Go does not report how long the threads took to stop for a
//     cycle. SuspendEEEnd is not raised, and suspend_ms is unknown.
//   - Reason. Induced for runtime.GC and its like, AllocSmall for cycles that the
//     runtime began, Empty if there were both since the source last looked.
//   - Heap after. GCHeapStats has what the cycle found live
//     (/gc/heap/live:bytes) as the size of generation 2, and as promoted. Go
//     reports it only for the latest cycle: if several cycles ended since the
//     source last polled, the earlier ones have no GCHeapStats, and readers
//     call them incomplete.
//   - Heap before, freed and allocated bytes. Go does not report them for a
//     cycle, so there are no histories.
//
// Figures for which .NET has no event are raised as GoCycle of the provider
// Go.GC: the heap goal, bytes allocated so far, and the CPU time that marking
// took from assisting goroutines, dedicated workers, idle processors and pauses
// since the previous event. GoPauses has the exact pauses of a cycle, each in
// nanoseconds.
//
// The end of the trace names .NET 10.0.0 as the runtime, because the events
// cannot hold another name; the command line is the program's own.
package gogc
