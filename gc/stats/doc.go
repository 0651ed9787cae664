// Package stats sums up collections as they come: counts, pauses and their
// percentiles, bytes, the heap over time, and the worst stretch of time.
//
// Its memory is bounded however many collections there are. docs/figures.md defines
// each figure.
package stats
