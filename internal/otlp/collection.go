package otlp

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
)

// CollectionEvent is the event name of the record of a collection. A process's
// collections differ in clr_instance and number, so that a record that arrives
// twice can be recognized.
const CollectionEvent = "gctrail.gc"

// ofResource are the columns of a collection that its Resource or its time gives.
var ofResource = []string{"pid", "process", "runtime", "start_ms", "pause_start_ms"}

// Collection returns the attributes of a collection's record, in the order of the
// columns of gc/figure: gctrail.gc.pause_ms is its column pause_ms.
func Collection() []Attribute[*gc.Collection] { return slices.Clone(collection()) }

var collection = sync.OnceValue(func() []Attribute[*gc.Collection] {
	var all []Attribute[*gc.Collection]
	for _, c := range figure.All() {
		if !slices.Contains(ofResource, c.Key) {
			all = append(all, Attribute[*gc.Collection]{CollectionEvent + "." + c.Key, c.Key, c.Type, c.Value})
		}
	}
	return all
})

// OfCollection returns the record of a collection that began at a time.
func OfCollection(c *gc.Collection, began time.Time) *logspb.LogRecord {
	return &logspb.LogRecord{
		EventName:      CollectionEvent,
		TimeUnixNano:   uint64(began.UnixNano()),
		SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_INFO,
		Body:           String(sentence(c)),
		Attributes:     attributes(collection(), c),
	}
}

// sentence describes a collection to readers of logs.
func sentence(c *gc.Collection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "GC %d", c.Number)
	if g, known := c.Generation.Get(); known {
		fmt.Fprintf(&b, ": gen %d %v", g, c.Kind)
	}
	if pause, known := c.Pause().Get(); known {
		fmt.Fprintf(&b, ", paused %v", pause.Round(time.Microsecond))
	}
	return b.String()
}
