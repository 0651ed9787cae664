// Package agent follows all .NET processes of a machine and reports the cost of their
// collections: as Prometheus metrics, and by OTLP as metrics and as one log record for
// each collection. The number of processes bounds its memory.
package agent
