package otlp_test

import (
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/otlp"
)

func values(r *logspb.LogRecord) map[string]*commonpb.AnyValue {
	all := make(map[string]*commonpb.AnyValue)
	for _, kv := range r.Attributes {
		all[kv.Key] = kv.Value
	}
	return all
}

func TestCollection(t *testing.T) {
	began := time.Unix(1700000000, 5)
	c := &gc.Collection{
		Process: &gc.Process{Name: "app", PID: 7}, ClrInstance: 9, Number: 12, Generation: gc.Some(2), Kind: gc.Blocking,
		HeapAfter: gc.Some(int64(1000)), AllPauses: true,
		Pauses: []gc.Pause{{Start: time.Second, Duration: 2500 * time.Microsecond}},
	}
	r := otlp.OfCollection(c, began)
	if r.EventName != "gctrail.gc" || r.TimeUnixNano != 1700000000000000005 {
		t.Errorf("event %q at %d", r.EventName, r.TimeUnixNano)
	}
	if got, want := r.Body.GetStringValue(), "GC 12: gen 2 blocking, paused 2.5ms"; got != want {
		t.Errorf("body %q, want %q", got, want)
	}
	all := values(r)
	if got := all["gctrail.gc.pause_ms"].GetDoubleValue(); got != 2.5 {
		t.Errorf("pause_ms %v", got)
	}
	if got := all["gctrail.gc.heap_after_bytes"].GetIntValue(); got != 1000 {
		t.Errorf("heap_after_bytes %v", got)
	}
	if v, has := all["gctrail.gc.committed_after_bytes"]; has {
		t.Errorf("an unknown figure is %v", v)
	}
	for _, key := range []string{"gctrail.gc.pid", "gctrail.gc.start_ms"} {
		if _, has := all[key]; has {
			t.Errorf("%s is in the record", key)
		}
	}
}

// TestTables checks that tables can be made from what the attributes say.
func TestTables(t *testing.T) {
	columns := make(map[string]bool)
	check := func(key, name string, typ figure.Type) {
		t.Helper()
		if columns[name] || typ == figure.Unknown || !strings.Contains(key, ".") {
			t.Errorf("attribute %s, column %s: twice, or without a type or a prefix", key, name)
		}
		columns[name] = true
	}
	for _, a := range otlp.Resource() {
		check(a.Key, a.Column, a.Type)
	}
	for _, a := range otlp.Collection() {
		check(a.Key, a.Column, a.Type)
	}
	clear(columns)
	for _, a := range otlp.Ended() {
		check(a.Key, a.Column, a.Type)
	}
}

func TestEndedProcess(t *testing.T) {
	e := &otlp.End{Cause: "oom_killed", Memory: "native", Sentence: "killed", RSS: gc.Some(int64(512)), OOMKills: gc.Some(int64(1))}
	r := otlp.OfEnd(e, time.Unix(5, 0))
	all := values(r)
	if len(all) != 4 || all["gctrail.process.end.rss_bytes"].GetIntValue() != 512 || all["gctrail.process.end.memory"].GetStringValue() != "native" {
		t.Errorf("attributes %v", all)
	}
	if r.SeverityNumber != logspb.SeverityNumber_SEVERITY_NUMBER_WARN {
		t.Errorf("severity %v", r.SeverityNumber)
	}
}

func TestResource(t *testing.T) {
	r := otlp.NewResource(map[string]any{"service.name": "shop", "host.name": "", "process.pid": int64(4)})
	if len(r.Attributes) != 2 || r.Attributes[0].Key != "process.pid" || r.Attributes[1].Value.GetStringValue() != "shop" {
		t.Errorf("attributes %v", r.Attributes)
	}
}
