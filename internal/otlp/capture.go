package otlp

import (
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
)

// CaptureEvent is the event name of the record of a trace that was kept.
const CaptureEvent = "gctrail.capture"

// A Capture is a trace of a process that was kept.
type Capture struct {
	Path  string // on the machine of the agent
	Bytes int64
	Rule  string // that asked for it; empty if a person did
	GC    uint32 // number of the collection that met the rule
}

// OfCapture returns the record of a capture that was finished at a time.
func OfCapture(c *Capture, at time.Time) *logspb.LogRecord {
	add := func(key string, v *commonpb.AnyValue) *commonpb.KeyValue {
		return &commonpb.KeyValue{Key: CaptureEvent + "." + key, Value: v}
	}
	r := &logspb.LogRecord{
		EventName:      CaptureEvent,
		TimeUnixNano:   uint64(at.UnixNano()),
		SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_INFO,
		Body:           String("trace kept in " + c.Path),
		Attributes:     []*commonpb.KeyValue{add("path", String(c.Path)), add("bytes", Int(c.Bytes))},
	}
	if c.Rule != "" {
		r.Attributes = append(r.Attributes, add("rule", String(c.Rule)), add("gc", Int(int64(c.GC))))
	}
	return r
}
