package agent

import (
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/internal/watch"
)

const (
	// batch is how many log records are sent together.
	batch = 500
	// batchTime is how long a record waits for others.
	batchTime = 5 * time.Second
	// maxRecords bounds the records that wait to be sent.
	maxRecords = 4 * batch
)

// records wait to be sent.
type records struct {
	waiting []waiting
	dropped uint64
	full    chan struct{} // holds a token when a batch is there
}

type waiting struct {
	of  *process
	log *logspb.LogRecord
}

// add adds the record of a collection, in the trace of a request that it paused, if one is known.
func (r *records) add(p *process, c *watch.Collection, paused *request.Span) {
	log := otlp.OfCollection(c.Collection, c.Began)
	if paused != nil && paused.TraceID.String() != "" {
		log.TraceId, log.SpanId = paused.TraceID[:], paused.ID[:]
	}
	r.put(p, log)
}

func (r *records) put(p *process, log *logspb.LogRecord) {
	if len(r.waiting) >= maxRecords {
		r.waiting = append(r.waiting[:0], r.waiting[1:]...)
		r.dropped++
	}
	log.ObservedTimeUnixNano = uint64(time.Now().UnixNano())
	r.waiting = append(r.waiting, waiting{p, log})
	if len(r.waiting) >= batch {
		select {
		case r.full <- struct{}{}:
		default:
		}
	}
}

// logsOf groups records by process, in the order of each one's first.
func logsOf(all []waiting) *logspb.LogsData {
	data := new(logspb.LogsData)
	scopes := make(map[*process]*logspb.ScopeLogs)
	for _, w := range all {
		s := scopes[w.of]
		if s == nil {
			s = &logspb.ScopeLogs{Scope: scope}
			scopes[w.of] = s
			data.ResourceLogs = append(data.ResourceLogs, &logspb.ResourceLogs{
				Resource: otlp.NewResource(w.of.identity), ScopeLogs: []*logspb.ScopeLogs{s},
			})
		}
		s.LogRecords = append(s.LogRecords, w.log)
	}
	return data
}

// scope is the instrumentation scope of all telemetry.
var scope = &commonpb.InstrumentationScope{Name: "github.com/gctrail/gctrail"}
