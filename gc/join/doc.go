// Package join rebuilds the activities of a server collection's threads during its
// pauses. Each heap has a thread, and the threads meet at joins: the first to arrive wait
// for the last, which wakes them.
//
// A Model takes a trace's events, which must have been recorded at level 5. For each
// collection and heap it adds up, phase by phase, how long the heap's thread worked,
// waited, and was being woken. The three add up to the pause, SuspendEEBegin to
// RestartEEBegin. A phase has the name of the join that ends it.
//
// A Sum adds up a process's collections, and names the heap that others waited for
// longest, with the likely cause.
//
// A Tunings lists the times at which server GC measured the cost of its collections and
// decided on the number of heaps.
//
// See join_structure in the runtime's gc.cpp.
package join
