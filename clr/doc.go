// Package clr defines the events of the .NET runtime: one struct for each event of
// garbage collection, and of the methods, modules and runtimes that give addresses
// their names; the runtime's enums with their words; and a Decoder that writes any
// event as JSON.
//
// Structs, enums and layouts are generated from events.json, the package's one
// table. Its facts come from the manifests (ClrEtwAll.man of .NET Framework 4
// and of CoreCLR 1.0 to .NET 10), from the runtime's source where the manifests
// are silent or wrong (gc.cpp, gcrecord.h, gcevents.h, gceventstatus.h,
// eventtrace.cpp), and from what real processes wrote. Names are the
// manifest's, an event's without the suffix for its version: GCStart_V2 is
// version 2 of GCStart.
//
// # Decoding
//
// KindOf returns the kind of an event. The Decode method of the kind's struct sets
// all its fields from a payload:
//
//   - Fields that the version does not have are zero. A version that is newer
//     than the newest known one is read as that one, since the runtime only
//     ever appends; an older unknown one as the nearest known.
//   - A payload that is too short for its version returns an error that wraps
//     the cursor's ErrTruncated. What is there is set: whole fields, and whole
//     elements of arrays; the rest is zero. Bytes after the last field are no
//     error.
//   - ptrSize is the size of a pointer in the traced process: 4, or else 8.
//   - Decode allocates only where a struct's slices are too small for an array.
//     A struct that is decoded into again and again soon allocates nothing.
//     UTF16, ANSI and []byte fields share the payload's memory.
//
// # Encoding
//
// Append is the inverse of Decode: it appends the payload that the runtime would
// raise for the struct in a version, with pointers of ptrSize bytes.
//
//   - Fields that the version does not have are left out, and numbers are cut to
//     the width that it has for them. Versions that are not known are taken as
//     Decode takes them.
//   - A field that counts elements is written as their number, as far as it can
//     hold it; if it counts two lists, as that of the shorter. A list of fixed
//     length is padded with zeros, or truncated.
//   - A string ends at its first zero.
//
// The elements of GCLOHCompact, GCFitBucketInfo and the private
// GCPerHeapHistory are raw C structures on the wire, whatever the manifest
// says; the padding inside them is skipped.
package clr

//go:generate go run ./internal/gen
