package otlp

import (
	"slices"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
)

// EndEvent is the event name of the record of a process that ended.
const EndEvent = "gctrail.process.end"

// An End is the last known state of a process's memory. Sizes are in bytes.
type End struct {
	Cause    string // "exited", "killed", "oom_killed", "out_of_memory"
	Memory   string // the larger part: "heap", "native", or empty if unknown
	Sentence string // the same in words

	RSS       gc.Opt[int64] // resident
	Heap      gc.Opt[int64] // GC heap after the latest collection
	Committed gc.Opt[int64] // of the GC heap
	Native    gc.Opt[int64] // resident outside the GC heap, if known exactly
	Used      gc.Opt[int64] // by the cgroup
	Limit     gc.Opt[int64] // of the cgroup
	HardLimit gc.Opt[int64] // of the GC heap
	OOMKills  gc.Opt[int64] // in the cgroup, while the process was watched
	LastGC    gc.Opt[int64] // number of the latest collection
}

// Ended returns the attributes of the record of a process that ended.
func Ended() []Attribute[*End] { return slices.Clone(ended) }

var ended = []Attribute[*End]{
	text("cause", func(e *End) string { return e.Cause }),
	text("memory", func(e *End) string { return e.Memory }),
	number("rss_bytes", figure.Bytes, func(e *End) gc.Opt[int64] { return e.RSS }),
	number("heap_bytes", figure.Bytes, func(e *End) gc.Opt[int64] { return e.Heap }),
	number("committed_bytes", figure.Bytes, func(e *End) gc.Opt[int64] { return e.Committed }),
	number("native_bytes", figure.Bytes, func(e *End) gc.Opt[int64] { return e.Native }),
	number("cgroup_used_bytes", figure.Bytes, func(e *End) gc.Opt[int64] { return e.Used }),
	number("cgroup_limit_bytes", figure.Bytes, func(e *End) gc.Opt[int64] { return e.Limit }),
	number("hard_limit_bytes", figure.Bytes, func(e *End) gc.Opt[int64] { return e.HardLimit }),
	number("oom_kills", figure.Int, func(e *End) gc.Opt[int64] { return e.OOMKills }),
	number("last_gc", figure.Int, func(e *End) gc.Opt[int64] { return e.LastGC }),
}

// OfEnd returns the record of a process that ended at a time.
func OfEnd(e *End, at time.Time) *logspb.LogRecord {
	severity := logspb.SeverityNumber_SEVERITY_NUMBER_INFO
	if e.Cause != "exited" {
		severity = logspb.SeverityNumber_SEVERITY_NUMBER_WARN
	}
	return &logspb.LogRecord{
		EventName:      EndEvent,
		TimeUnixNano:   uint64(at.UnixNano()),
		SeverityNumber: severity,
		Body:           String(e.Sentence),
		Attributes:     attributes(ended, e),
	}
}

func text(name string, get func(*End) string) Attribute[*End] {
	return Attribute[*End]{EndEvent + "." + name, name, figure.Text, func(e *End) figure.Value {
		if s := get(e); s != "" {
			return figure.Value{Type: figure.Text, Text: s}
		}
		return figure.Value{}
	}}
}

func number(name string, typ figure.Type, get func(*End) gc.Opt[int64]) Attribute[*End] {
	return Attribute[*End]{EndEvent + "." + name, name, typ, func(e *End) figure.Value {
		n, known := get(e).Get()
		if !known {
			return figure.Value{}
		}
		return figure.Value{Type: typ, Int: n}
	}}
}
