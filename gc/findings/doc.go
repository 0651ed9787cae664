// Package findings judges the collections of a process: rules turn evidence
// into findings in plain words, with the setting to change, the costliest first.
//
// The numbers of the rules, and most of their thresholds, follow the memory
// performance guide of the garbage collector's authors (mem-doc) and PerfView's
// GCStats; where a threshold is this package's own, its comment says so.
package findings
