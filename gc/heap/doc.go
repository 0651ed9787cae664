// Package heap reads heap snapshots: the objects that survived a collection, their
// references, and their roots. The runtime writes a snapshot at the end of a collection that
// a session induced with the keywords GCHeapCollect, GCHeapDump and Type. The sizes of
// generations and their free space need the keyword GCHeapSurvivalAndMovement too.
//
// Snapshots is a model for gc/pass that finds the snapshots in a trace; ReadGCDump reads the
// one in a .gcdump file. A Snapshot counts objects by type and roots by kind, and lists its
// gaps in Missing. If it is complete, its Graph has every object and reference, and
// Graph.Dominators finds the objects that each one keeps alive.
//
// An object is alive if a strong root reaches it. Weak handles are not roots. A dependent
// handle, as a ConditionalWeakTable uses them, keeps its value alive while its key is alive,
// and counts as a reference from the key to the value. Static fields are roots, and so is the
// table in which the runtime stores the static fields of a module.
//
// Segments follows the segments or regions of the heap, and its committed memory.
package heap
