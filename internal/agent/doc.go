// Package agent follows all .NET processes of a machine and serves what their
// collections cost: as Prometheus metrics, and by OTLP as metrics and as one log
// record for each collection. Its memory is bounded by the number of processes.
package agent
