// Package findings judges the collections of a process. Rules turn evidence into
// findings in plain language, with advice and settings, most important first.
//
// Examine judges a trace in one call. A Set judges collections while they are added.
//
// Most thresholds follow the .NET memory performance guide by the garbage
// collector's authors (mem-doc) and PerfView's GCStats. Each Rule names its source;
// "own" marks the thresholds of this package.
package findings
