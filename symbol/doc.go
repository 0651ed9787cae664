// Package symbol names the code addresses in the stacks of events: it learns
// the methods of processes from the events that load, unload and list them,
// and keeps the stacks of other events in bounded memory until the names are
// known.
//
// A trace lists the methods that were loaded before it at its end (the
// runtime's rundown), so that names come after the stacks that need them. A
// Stacks therefore interns the addresses of each stack while the trace is read,
// with the time they were seen, and Frames resolves them afterwards:
//
//	var table symbol.Table
//	stacks := symbol.NewStacks(&table)
//	for ev, err := range src.Events() {
//		table.Feed(ev)
//		id := stacks.Intern(ev) // sum up by id
//	}
//	for frame := range stacks.Frames(id) { … }
//
// Addresses of unloaded code are reused by other methods. An address belongs to
// the method that was last loaded there before the address was seen, or,
// without one, to the method that was listed or loaded there later.
//
// The files mapped into a process, which ETW's kernel events and collect-linux
// list, show whether a name could be expected for an address.
//
// Names are spelt as PerfView spells them: namespace, type, method and the
// parameter list of the signature.
package symbol
