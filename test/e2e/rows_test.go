package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// TestManyRows asks questions of many collections of 400 pods on two shards, and
// reports how long the answers take.
func TestManyRows(t *testing.T) {
	rows := number(t, "GCTRAIL_E2E_ROWS", 500_000)
	shards := startShards(t, 2)
	for i, s := range shards {
		const day = 86_400_000_000_000
		began := time.Now().Add(-23 * time.Hour).UnixNano()
		each := rows / 2
		statement(t, s, fmt.Sprintf(`INSERT INTO gc_local (time_ns, process_uid, service_name, service_version, k8s_pod, process, pid, clr_instance, number,
 generation, kind, reason, pause_ms, allocated_bytes, heap_after_bytes, complete, affected_by_loss)
 SELECT toInt64(%d + number * %d), concat('uid-%d-', toString(number %% 200)), concat('service-', toString(number %% 20)), concat('1.', toString(number %% 2)),
 concat('pod-%d-', toString(number %% 200)), 'app', toInt64(number %% 200), toInt64(8), toInt64(intDiv(number, 200) + 1),
 toInt64(if(number %% 50 = 0, 2, number %% 2)), 'blocking', if(number %% 7 = 0, 'Induced', 'AllocSmall'), exp(rand() / 4294967295 * 4) / 4,
 toInt64(6000000), toInt64(64000000 + rand() %% 1000000), toUInt8(1), toUInt8(0) FROM system.numbers LIMIT %d`, began, int64(day*22/24)/int64(each), i, i, each))
	}
	store := shards[0].address + "/gctrail"
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

// statement runs a statement on one shard.
func statement(t *testing.T, s *shard, sql string) {
	t.Helper()
	resp, err := http.Post(s.address+"/?database=gctrail", "text/plain", bytes.NewBufferString(sql))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("%s\n%s", sql, text)
	}
}
