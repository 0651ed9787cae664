// Command gctrail-wasm is gctrail as a module of WebAssembly, with what needs no processes,
// sockets or terminals. For the page that opens traces in a browser, it runs in a worker, whose
// web/open/worker.ts calls it:
//
//	GOOS=js GOARCH=wasm go build ./cmd/gctrail-wasm
//
// For programs of any language that has a WebAssembly runtime with WASI preview 1, it is a
// command:
//
//	GOOS=wasip1 GOARCH=wasm go build -o gctrail.wasm ./cmd/gctrail-wasm
//	wasmtime --dir .::/ gctrail.wasm [-format FORMAT] [-redact [-keep-system]] FILE…
//
// It reads the files, which are one trace or heap snapshot, or several traces on one time
// line, and writes the report or an export to standard output. Exit codes: 0 success,
// 2 invalid usage, 3 a file cannot be read, or has nothing for the format.
package main

import "runtime/debug"

// growth is the value of GOGC. It is low because a module never returns memory to its host.
const growth = 50 // percent

// program names this program with its version.
func program() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "gctrail " + version
}
