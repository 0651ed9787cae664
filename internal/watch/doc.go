// Package watch follows the .NET processes of a machine for as long as somebody
// looks: it finds them, attaches to those that are wanted, and keeps of each, in
// bounded memory, what there is to show: recent collections, rates, totals,
// findings, and the trace itself. It draws nothing.
//
//	w := watch.New(watch.Options{})
//	go w.Run(ctx)
//	for range ticks { show(w.Snapshot()) }
package watch
