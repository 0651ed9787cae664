// Package open detects the format of a file from its first bytes, never from its
// name, and returns the trace in it: plain, or inside gzip, zstd, xz, zip or tar,
// also nested.
//
// For a file that is not a trace, or a trace of a format that this version does not
// read, it returns an *UnknownError, which names what the file looks like and what
// to do instead.
package open
