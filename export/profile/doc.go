// Package profile writes for profilers: allocations by stack, and heap snapshots by what holds the
// objects, for the tools that draw flame graphs of them (go tool pprof, www.speedscope.app, and
// what reads collapsed stacks), and collections and allocations in time for profiler.firefox.com.
package profile
