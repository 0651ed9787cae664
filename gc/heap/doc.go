// Package heap reads the heap snapshots in a trace: all objects that a collection found,
// their references and what holds them. The runtime writes one at the end of a collection
// that a session asked for with the keywords GCHeapCollect, GCHeapDump and Type; the sizes of
// generations and their free space need GCHeapSurvivalAndMovement too.
//
// Snapshots is a model for gc/pass. Each Snapshot counts its objects by type, its roots by
// kind, and what is missing of it. Its Graph has every object and reference, as columns of
// numbers, from which Dominators finds what each object keeps alive. ReadGCDump makes the same
// of a .gcdump file.
//
// An object is alive if a strong root reaches it. Weak handles are no roots. A
// dependent handle, of which a ConditionalWeakTable is made, keeps its value alive as long as
// its key is: it is a reference from the key to the value. A static field is a root; so is
// the table in which the runtime holds the values of a module's static fields.
package heap
