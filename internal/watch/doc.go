// Package watch follows the .NET processes of a machine: it finds them and attaches to
// the wanted ones. For each it retains, in bounded memory, recent collections, rates,
// totals, findings, and the trace itself. It draws nothing.
//
//	w := watch.New(watch.Options{})
//	go w.Run(ctx)
//	for range ticks { show(w.Snapshot()) }
package watch
