// Package ledger keeps the last minutes of a process's memory in a small file of
// fixed size, which survives the process and whoever wrote it: a record for each
// second, with what the system says of the process and what its latest collection
// measured. Judge returns what a process died with.
package ledger
