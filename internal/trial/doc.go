// Package trial runs a program under several settings of the garbage collector, in random
// order and round after round, until it is clear which of them helps, and judges the runs so
// that no setting wins by chance; see docs/try.md.
package trial
