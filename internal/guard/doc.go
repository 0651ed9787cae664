// Package guard keeps strangers from the servers of this machine: it refuses requests that a
// page of another site makes a browser send, and reads tokens from files that only their
// owner can read.
package guard
