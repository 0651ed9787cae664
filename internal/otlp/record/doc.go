// Package record defines the OTLP log records of gctrail: one for each
// collection, and one for each process that ended. Tables list their attributes;
// who writes records and who stores them use the same tables.
//
// A record's process is its Resource, whose attributes Resource lists. Keys with
// the prefix gctrail. are our own; the others follow OpenTelemetry's semantic
// conventions.
package record
