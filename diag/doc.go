// Package diag speaks .NET's diagnostics IPC protocol: it finds the .NET
// processes of a machine, in containers too, asks them what they are, and has
// them raise events.
//
// A Client speaks to one runtime. It is made for an address that a runtime
// listens at, or accepted by a Listener that runtimes dial (a diagnostic port):
//
//	session, err := diag.NewClient(process.Address).Collect(ctx, config)
//
// A Server is the other side: it answers such clients for a program that is no
// .NET process, but has traces to give. Package emit has them.
//
// The protocol is described in dotnet/diagnostics, documentation/design-docs/
// ipc-protocol.md. What runtimes really do, and what kills them, was tried on
// .NET 8 to 10; docs/diagnostics.md tells how this package keeps to it. Every
// request is checked before it is sent: a malformed one can end the process
// that it was sent to.
package diag
