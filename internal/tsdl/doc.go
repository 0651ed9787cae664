// Package tsdl reads the metadata of traces in the Common Trace Format: that of
// CTF 1.8, written in the Trace Stream Description Language, plain or in
// packets, and that of CTF 2, a sequence of JSON texts. Both become one model
// of types.
//
// The formats are described in the CTF 1.8.3 and CTF 2 specifications at
// diamon.org/ctf; what LTTng writes is in lttng-tools, src/common/tsdl and
// src/bin/lttng-sessiond/ust-registry*. docs/format/ctf.md describes how this
// package reads them.
//
// In CTF 1.8, the package removes a leading underscore from names, because
// LTTng puts one before every name that users choose.
package tsdl
