// Package ctf reads traces in the Common Trace Format as LTTng writes them, CTF
// 1.8 and CTF 2: of one session or of several, whole, rotated or as snapshots. A
// Writer writes CTF 1.8.
//
// A trace is a folder with a file named metadata, which package tsdl reads, and
// files of packets next to it. The formats are described in the CTF 1.8.3 and
// CTF 2 specifications; which events .NET writes, and how, is in
// dotnet/runtime, src/scripts/genLttngProvider.py. docs/format/ctf.md describes
// how this package reads and writes them.
//
// Payloads are emitted in the same form as by the other readers, so that one
// decoder serves all: the fields in sequence, little-endian and without
// padding, strings in UTF-16 with a terminating zero.
package ctf
