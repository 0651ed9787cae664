// Package otlp sends telemetry by OTLP/HTTP, in protobuf, to a Collector or any
// other endpoint. It queues messages in bounded memory while the endpoint does not
// answer, and counts what it has to drop.
//
//	s, err := otlp.NewSender(otlp.Options{Endpoint: "http://127.0.0.1:4318"})
//	go s.Run(ctx)
//	s.Push(otlp.Logs, &logspb.LogsData{…}, records)
//
// The protocol is described at opentelemetry.io/docs/specs/otlp. LogsData and
// MetricsData have the wire form of the requests.
//
// It also defines the log records of gctrail: one for each collection, and one for each
// process that ended. Tables list their attributes, so that writers and stores of records
// agree. A record's process is its Resource, whose attributes Resource lists.
// Keys with the prefix gctrail. are our own; the others follow OpenTelemetry's semantic
// conventions.
package otlp
