// Package whatif bounds the figures that a program's collections would have with another
// setting of the runtime, from the collections of a trace: intervals, never a point, and their
// assumptions. It leaves unknown, with the reason, each figure that the events do not
// determine.
//
// A Recomputer has the rule on which the bounds rest: how the runtime sets allocation budgets.
package whatif
