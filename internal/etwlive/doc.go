// Package etwlive follows the collections of .NET Framework processes, which have no
// diagnostic pipe, through one session of Event Tracing for Windows for all of them.
package etwlive
