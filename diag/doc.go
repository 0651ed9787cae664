// Package diag implements .NET's diagnostics IPC protocol: it finds the .NET processes of
// a machine, including processes in containers, queries them, and has them raise events.
//
// A Client talks to one runtime. Create it with the address that a runtime listens on, or
// accept it from a Listener that runtimes connect to (a diagnostic port):
//
//	session, err := diag.NewClient(process.Address).Collect(ctx, config)
//
// A Server is the other side: it answers such clients for a program that is not a .NET
// process but provides traces, as package emit does.
//
// The protocol is described in dotnet/diagnostics, documentation/design-docs/
// ipc-protocol.md. docs/diagnostics.md describes how .NET 8 to 10 actually behave, and
// how this package deals with that. Every request is validated before it is sent, because
// a malformed one can crash the process that receives it.
package diag
