// Package open finds out by its first bytes what a file is, never by its name,
// and hands back the trace in it: as it is, or inside gzip, zstd, xz, zip or tar, or
// inside one of these inside another.
//
// What is no trace, or one of a kind that this version does not read, is
// refused with an *UnknownError that names what the file looks like and says
// what to do instead.
package open
