// Package profile writes allocations by stack for the tools that draw flame graphs of them:
// go tool pprof, www.speedscope.app, and what reads collapsed stacks.
package profile
