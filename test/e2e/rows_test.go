package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestManyRows stores many collections of 400 pods, in today's tables and in the ones
// before DateTime64, and reports rows a second, bytes a row, and the time for answers.
func TestManyRows(t *testing.T) {
	rows := number(t, "GCTRAIL_E2E_ROWS", 500_000)
	s := startServer(t)
	statement(t, s, "CREATE DATABASE before")
	statement(t, s, before(t, s))
	const day = 86_400_000_000_000
	began := time.Now().Add(-23 * time.Hour).UnixNano()
	// The pauses, the heap and the allocated bytes vary as in a real program.
	statement(t, s, fmt.Sprintf(`CREATE TABLE before.made ENGINE = MergeTree ORDER BY tuple() AS
 SELECT toInt64(%d + n * %d + rand() %% 1000000) AS time_ns, lower(hex(MD5(toString(n %% 400)))) AS process_uid, concat('service-', toString(n %% 20)) AS service_name,
 concat('1.', toString(n %% 2)) AS service_version, concat('pod-', toString(n %% 2), '-', toString(n %% 400)) AS k8s_pod, 'app' AS process, toInt64(n %% 400) AS pid,
 toInt64(8) AS clr_instance, toInt64(intDiv(n, 400) + 1) AS number, toInt64(if(n %% 50 = 0, 2, n %% 2)) AS generation, 'blocking' AS kind,
 if(n %% 7 = 0, 'Induced', 'AllocSmall') AS reason, round(exp(rand(1) / 4294967295 * 4) / 4, 6) AS pause_ms, round(rand(2) / 4294967295 / 10, 6) AS suspend_ms,
 round(exp(rand(3) / 4294967295 * 4) / 4, 6) AS duration_ms, toInt64(6000000 + rand(4) %% 100000) AS allocated_bytes, toInt64(70000000 + rand(5) %% 1000000) AS heap_before_bytes,
 toInt64(64000000 + rand(6) %% 1000000) AS heap_after_bytes, toInt64(rand(7) %% 3000000) AS promoted_bytes, toUInt8(1) AS complete, toUInt8(0) AS affected_by_loss
 FROM (SELECT number AS n FROM system.numbers LIMIT %d)`, began, day*22/24/int64(rows), rows))
	const columns = `process_uid, service_name, service_version, k8s_pod, process, pid, clr_instance, number, generation, kind, reason, pause_ms, suspend_ms, duration_ms,
 allocated_bytes, heap_before_bytes, heap_after_bytes, promoted_bytes, complete, affected_by_loss`
	for _, into := range []struct{ table, time, from string }{
		{"before.gc", "time_ns", "time_ns"},
		{"gctrail.gc", "time", "fromUnixTimestamp64Nano(time_ns, 'UTC')"},
	} {
		start, used := time.Now(), s.used(t)
		statement(t, s, fmt.Sprintf("INSERT INTO %s (%s, %s) SELECT %s, %s FROM before.made", into.table, into.time, columns, into.from, columns))
		took, used := time.Since(start), s.used(t)-used
		statement(t, s, "OPTIMIZE TABLE "+into.table+" FINAL")
		database, table, _ := strings.Cut(into.table, ".")
		size := strings.TrimSpace(statement(t, s, fmt.Sprintf("SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE active AND database = '%s' AND table = '%s'", database, table)))
		t.Logf("%s: %.0f rows a second, %.0f in a second of a processor, %.5s bytes a row", into.table, float64(rows)/took.Seconds(), float64(rows)/used.Seconds(), size)
	}
	statement(t, s, "DROP TABLE before.made")
	store := s.address + "/gctrail"
	for _, question := range [][]string{
		{"top"},
		{"top", "--by", "k8s_pod"},
		{"top", "--by", "reason", "--service", "service-7"},
		{"gcs", "--where", "pause_ms>=13"},
		{"gcs", "--pod", "pod-1-7", "--from", "2h"},
		{"query", "SELECT generation, quantileTDigest(0.99)(assumeNotNull(pause_ms)) FROM gc FINAL GROUP BY generation"},
		{"compare", "--service", "service-7", "--processes", "8", "service_version=1.1", "reason=Induced"},
	} {
		start := time.Now()
		out := gctrailRun(t, append([]string{"fleet", question[0], "--store", store}, question[1:]...)...)
		t.Logf("%8.3f s  %v", time.Since(start).Seconds(), question)
		if out == "" {
			t.Errorf("%v: no answer", question)
		}
	}
	if collections, processes := totals(t, store); collections != int64(rows) || processes != 400 {
		t.Errorf("%d collections of %d processes", collections, processes)
	}
}

// before returns the statement for the table of collections as it was before DateTime64.
func before(t *testing.T, s *server) string {
	t.Helper()
	columns := statement(t, s, `SELECT arrayStringConcat(groupArray(concat(name, ' ', replace(type, 'LowCardinality(String)', 'String'))), ', ')
 FROM system.columns WHERE database = 'gctrail' AND table = 'gc' AND name NOT IN ('time', 'time_ns')`)
	return "CREATE TABLE before.gc (time_ns Int64, " + strings.TrimSpace(columns) + `, time DateTime DEFAULT toDateTime(intDiv(time_ns, 1000000000)))
 ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(time) ORDER BY (process_uid, clr_instance, number)`
}

// statement runs a statement, and returns the answer.
func statement(t *testing.T, s *server, sql string) string {
	t.Helper()
	resp, err := http.Post(s.address+"/?database=gctrail", "text/plain", bytes.NewBufferString(sql))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s\n%s", sql, text)
	}
	return string(text)
}
