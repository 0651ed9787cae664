// Package fleet stores the collections of many machines and answers questions about
// them.
//
// Agents send one OTLP log record for each collection. A [Receiver] takes such
// records, through any number of OpenTelemetry Collectors or directly, and stores
// them in a [Store]: ClickHouse, which shards and replicates, or a folder of
// Parquet files, which needs no server. The same questions are asked of both:
// which service pauses most, since which version, what changed, and which process
// was killed with what in its memory.
//
// A record may arrive twice, because senders repeat records that were not acknowledged.
// It still counts once: a collection is identified by its process, the runtime in it
// and its number. docs/fleet.md describes the tables.
package fleet
