package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/otlp"
)

// logsTable is the table of the Collector's ClickHouse exporter; see
// opentelemetry-collector-contrib, clickhouseexporter, logs_table.sql.
const logsTable = `CREATE TABLE otel.otel_logs (
 Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)), TimestampTime DateTime DEFAULT toDateTime(Timestamp),
 TraceId String, SpanId String, TraceFlags UInt8, SeverityText LowCardinality(String), SeverityNumber UInt8,
 ServiceName LowCardinality(String), Body String, ResourceSchemaUrl LowCardinality(String),
 ResourceAttributes Map(LowCardinality(String), String), ScopeSchemaUrl LowCardinality(String), ScopeName String,
 ScopeVersion LowCardinality(String), ScopeAttributes Map(LowCardinality(String), String),
 LogAttributes Map(LowCardinality(String), String), EventName String
) ENGINE = MergeTree PARTITION BY toDate(TimestampTime) ORDER BY (ServiceName, TimestampTime, Timestamp)`

// texts are attributes as the exporter writes them: as texts.
func texts(attributes []*commonpb.KeyValue) string {
	var pairs []string
	for _, kv := range attributes {
		text := ""
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			text = v.StringValue
		case *commonpb.AnyValue_IntValue:
			text = strconv.FormatInt(v.IntValue, 10)
		case *commonpb.AnyValue_BoolValue:
			text = strconv.FormatBool(v.BoolValue)
		case *commonpb.AnyValue_DoubleValue:
			text = strconv.FormatFloat(v.DoubleValue, 'f', -1, 64)
		}
		pairs = append(pairs, quoted(kv.Key), quoted(text))
	}
	return "map(" + strings.Join(pairs, ", ") + ")"
}

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

// insert is the statement with which the exporter inserts a record.
func insert(resource map[string]any, log *logspb.LogRecord) string {
	return fmt.Sprintf("INSERT INTO otel.otel_logs (Timestamp, Body, ResourceAttributes, LogAttributes, EventName) VALUES (fromUnixTimestamp64Nano(toInt64(%d)), %s, %s, %s, %s)",
		log.TimeUnixNano, quoted(log.Body.GetStringValue()), texts(otlp.NewResource(resource).Attributes), texts(log.Attributes), quoted(log.EventName))
}

// TestViews has the views of fleet schema --logs take records from the table of the
// Collector's exporter, on the ClickHouse engine of today.
func TestViews(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	if _, err := os.Stat("views/node_modules/chdb"); err != nil {
		t.Skip("chdb is not installed: npm ci --ignore-scripts in test/e2e/views")
	}
	var statements []string
	for _, s := range strings.Split(gctrailRun(t, "fleet", "schema", "--logs", "otel_logs", "--database", "otel"), ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			statements = append(statements, s)
		}
	}
	// The exporter makes its table before, in a database that is there.
	statements = append([]string{statements[0], logsTable}, statements[1:]...)

	resource := map[string]any{otlp.UID: "abc", "service.name": "it's", "process.pid": int64(42), "k8s.pod.name": "shop-1"}
	began := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, number := range []uint32{1, 2, 2} { // the last is sent again
		start := time.Duration(number) * time.Second
		c := &gc.Collection{
			Process: &gc.Process{}, Number: number, ClrInstance: 8, Generation: gc.Some(2), Kind: gc.Blocking,
			Start: gc.Some(start), Pauses: []gc.Pause{{Kind: gc.PauseBlocking, Start: start, Duration: 1500 * time.Microsecond}}, AllPauses: true,
			PauseStart: gc.Some(start), HeapAfter: gc.Some(int64(64 << 20)), Complete: true, Compacted: gc.Some(false),
		}
		statements = append(statements, insert(resource, otlp.OfCollection(c, began.Add(start))))
	}
	end := &otlp.End{Cause: "oom_killed", Memory: "native", RSS: gc.Some(int64(512e6)), Native: gc.Some(int64(230e6)), OOMKills: gc.Some(int64(1))}
	statements = append(statements,
		insert(resource, otlp.OfEnd(end, began.Add(time.Minute))),
		insert(map[string]any{"service.name": "other"}, &logspb.LogRecord{TimeUnixNano: uint64(began.UnixNano()), Body: otlp.String("not ours")}),
		`SELECT g.*, e.* FROM (SELECT count() AS gcs, sum(pause_ms) AS pause, any(heap_after_bytes) AS heap, any(pid) AS pid, any(service_name) AS service,
 any(generation) AS generation, any(kind) AS kind, any(complete) AS complete, any(compacted) AS compacted, countIf(isNull(promoted_bytes)) AS unknown, min(time_ns) AS first, toString(min(time)) AS time
 FROM otel.gc FINAL) AS g CROSS JOIN (SELECT count() AS ends, any(cause) AS cause, any(memory) AS memory, any(rss_bytes) AS rss, any(native_bytes) AS native FROM otel.ends FINAL) AS e`)
	input, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "views/run.mjs", t.TempDir())
	cmd.Stdin = strings.NewReader(string(input))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var got map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]any{
		"gcs": 2, "pause": 3, "heap": 64 << 20, "pid": 42, "service": "it's", "generation": 2, "kind": "blocking", "complete": 1, "compacted": 0, "unknown": 2,
		"first": began.Add(time.Second).UnixNano(), "ends": 1, "cause": "oom_killed", "memory": "native", "rss": 512000000, "native": 230000000,
	} {
		value := got[name]
		if f, ok := value.(float64); ok {
			value = strconv.FormatFloat(f, 'f', -1, 64)
		}
		if fmt.Sprint(value) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
