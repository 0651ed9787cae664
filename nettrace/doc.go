// Package nettrace reads and writes the EventPipe trace formats of .NET:
// .netperf (object version 3, .NET Core 2.1 and 2.2) and .nettrace V4 (what
// every runtime since .NET Core 3.0 writes, with the metadata tags that some
// call V5) and V6 (dotnet-trace collect-linux, one-collect).
//
// The formats are described in PerfView's NetTraceFormat.md,
// NetTraceFormat_v5.md and NetPerfFormat.md; what the runtime really writes is
// in dotnet/runtime, src/native/eventpipe. docs/format/nettrace.md describes how this
// package reads them.
package nettrace
