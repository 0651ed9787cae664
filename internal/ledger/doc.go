// Package ledger stores the last minutes of a process's memory in a small file of fixed
// size, which survives the process and its writer. A record for each second has the
// system's figures on the process and the measurements of its latest collection. Judge
// returns a verdict on the end of the process.
package ledger
