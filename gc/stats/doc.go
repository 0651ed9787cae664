// Package stats sums up collections as they come: counts, pauses and their
// percentiles, bytes, the heap over time, and the worst stretch of time.
//
// Its memory is bounded however many collections there are. What each figure
// means is told in docs/figures.md.
package stats
