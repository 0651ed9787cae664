package trace

import "strings"

// A Tracer is a system that records the events of a runtime.
type Tracer uint8

// The tracers of .NET.
const (
	TracerUnknown Tracer = iota
	ETW                  // of Windows
	EventPipe            // of the runtime itself
	LTTng                // of Linux
)

// TracerOf returns the tracer whose traces have the format, an Info's Format.
func TracerOf(format string) Tracer {
	switch {
	case strings.HasPrefix(format, "etl"):
		return ETW
	case strings.HasPrefix(format, "net"):
		return EventPipe
	case strings.HasPrefix(format, "CTF"):
		return LTTng
	}
	return TracerUnknown
}
