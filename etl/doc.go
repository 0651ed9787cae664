// Package etl reads the trace files of Event Tracing for Windows, on any operating
// system: plain and compressed, in one file or in several that were recorded together.
//
// The format is not documented as a whole. Its structures are from the Windows headers
// evntrace.h, evntcons.h and ntwmi.h (WMI_BUFFER_HEADER, TRACE_LOGFILE_HEADER,
// EVENT_HEADER, …); compression is plain LZ77 of MS-XCA. docs/format/etl.md describes how
// this package reads them.
package etl
