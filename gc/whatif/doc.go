// Package whatif bounds what a program's collections would be with another setting of the
// runtime, from the collections of a trace: intervals, never a point, and what they assume.
// It leaves unknown, with the reason, each figure that the events do not determine.
package whatif
