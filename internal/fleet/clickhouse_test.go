package fleet

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/hosttest"
)

// server starts a ClickHouse, or skips the test.
func server(t *testing.T) *ClickHouse {
	t.Helper()
	s := hosttest.NewClickHouse(t)
	process := exec.Command(s.Command[0], s.Command[1:]...)
	log, err := os.Create(filepath.Join(s.Folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })
	c := &ClickHouse{URL: s.Address, Database: "default"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answers := dotnettest.Poll(ctx, func() bool {
		_, err := c.Query(ctx, "SELECT 1")
		return err == nil
	})
	if !answers {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("ClickHouse does not answer: %s", text)
	}
	return c
}

// run runs statements.
func run(t *testing.T, c *ClickHouse, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := c.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s\n%v", statement, err)
		}
	}
}

// value returns the answer to a query with one value.
func value(t *testing.T, c *ClickHouse, query string) string {
	t.Helper()
	answer, err := c.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s\n%v", query, err)
	}
	return fmt.Sprint(answer.Rows[0][0])
}

// created starts a ClickHouse with the tables of a schema.
func created(t *testing.T, schema Schema) *ClickHouse {
	t.Helper()
	c := server(t)
	run(t, c, schema.Statements()...)
	c.Database = schema.Database
	return c
}

func TestClickHouse(t *testing.T) {
	c := created(t, Schema{Database: "gctrail", Cluster: hosttest.Cluster, Days: 10_000})
	if err := c.CheckSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkStore(t, c)
}

// TestInsertTwice: a repeated batch is stored once, even before parts are merged, and
// also through a distributed table; a record in another batch counts once.
func TestInsertTwice(t *testing.T) {
	for _, schema := range []Schema{{Database: "gctrail"}, {Database: "gctrail", Cluster: hosttest.Cluster}} {
		c := created(t, schema)
		table := Collections()
		run(t, c, "SYSTEM STOP MERGES "+schema.stored(table))
		row := func(number int64) []byte {
			r := make(Row, len(table.Columns))
			r[table.index[columnTime]] = figure.Value{Type: figure.Int, Int: noon.UnixNano() + number}
			r[table.index[columnUID]] = figure.Value{Type: figure.Text, Text: "a"}
			r[table.index["number"]] = figure.Value{Type: figure.Int, Int: number}
			return table.appendRow(nil, r)
		}
		for _, rows := range [][]byte{row(1), row(1), slices.Concat(row(1), row(2))} {
			if err := c.insert(t.Context(), table, rows, 1); err != nil {
				t.Fatal(err)
			}
		}
		for query, want := range map[string]string{
			"SELECT toString(count()) FROM gc":       "3",
			"SELECT toString(count()) FROM gc FINAL": "2",
			"SELECT toString(max(time_ns)) FROM gc":  fmt.Sprint(noon.UnixNano() + 2),
			"SELECT toString(max(time)) FROM gc":     "2026-03-01 12:00:00.000000002",
			"SELECT partition FROM system.parts WHERE active AND rows > 0 AND database = 'gctrail' LIMIT 1": "2026-03-01",
		} {
			if got := value(t, c, query); got != want {
				t.Errorf("cluster %q: %s: %s, want %s", schema.Cluster, query, got, want)
			}
		}
	}
}

// TestAnswerLost: the answer to an insert is lost once, or always, and the sender sends its
// request again: its records are stored once.
func TestAnswerLost(t *testing.T) {
	c := created(t, Schema{Database: "gctrail"})
	run(t, c, "SYSTEM STOP MERGES gc")
	target, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	var lose atomic.Int64 // as many answers
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(*http.Response) error {
		if lose.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	proxy := httptest.NewServer(forward)
	defer proxy.Close()
	r := receiver(&ClickHouse{URL: proxy.URL, Database: "gctrail"}, "")
	sent := 0
	for _, test := range []struct {
		lost     int64
		statuses []int
	}{
		{1, []int{http.StatusOK, http.StatusOK}},
		{2, []int{http.StatusServiceUnavailable, http.StatusOK}},
	} {
		body := encode(t, pods(1)[0].logs(sent+1, sent+10))
		sent += 10
		lose.Store(test.lost)
		for _, status := range test.statuses {
			if w := post(r, body); w.Code != status {
				t.Errorf("%d answers lost: status %d: %s, want %d", test.lost, w.Code, w.Body, status)
			}
		}
		if got := value(t, c, "SELECT toString(count()) FROM gc"); got != fmt.Sprint(sent) {
			t.Errorf("%d answers lost: %s records stored of %d", test.lost, got, sent)
		}
	}
}

// TestAnswerCut: an answer that breaks off between two rows is an error.
func TestAnswerCut(t *testing.T) {
	table := Ends()
	row := table.appendRow(nil, make(Row, len(table.Columns)))
	for _, missing := range []int{0, 1, len(row)} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(2*len(row)+missing))
			_, _ = w.Write(slices.Concat(row, row))
		}))
		rows, failed := 0, false
		for _, err := range (&ClickHouse{URL: server.URL}).rows(t.Context(), table, new(Filter)) {
			if err != nil {
				failed = true
			} else {
				rows++
			}
		}
		server.Close()
		if failed != (missing > 0) || !failed && rows != 2 {
			t.Errorf("%d bytes are missing: failed is %t after %d rows", missing, failed, rows)
		}
	}
}

// TestMove: rows of an earlier version's tables, with seconds and nanoseconds apart, are
// copied.
func TestMove(t *testing.T) {
	c := server(t)
	run(t, c, "CREATE DATABASE gctrail")
	for _, table := range Tables() {
		columns := ""
		for i, col := range table.Columns {
			typ := map[figure.Type]string{figure.Text: "String", figure.Int: "Int64", figure.Bytes: "Int64", figure.Bool: "UInt8"}[col.Type]
			if typ = cmp.Or(typ, "Float64"); typ != "String" && !table.required[i] {
				typ = "Nullable(" + typ + ")"
			}
			columns += quoteName(col.Name) + " " + typ + ", "
		}
		run(t, c, fmt.Sprintf("CREATE TABLE gctrail.%s (%s time DateTime DEFAULT toDateTime(intDiv(time_ns, 1000000000))) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(time) ORDER BY (%s)",
			table.Name, columns, strings.Join(table.Key, ", ")))
	}
	run(t, c, fmt.Sprintf("INSERT INTO gctrail.gc (time_ns, process_uid, number, pause_ms) SELECT %d + number, 'a', number, 1.5 FROM numbers(300)", noon.UnixNano()))
	earlier := *c
	earlier.Database = "gctrail"
	if err := earlier.CheckSchema(t.Context()); err == nil || NoSchema(err) || !strings.Contains(err.Error(), "--move") {
		t.Errorf("the tables of before: %v", err)
	}
	run(t, c, Schema{Database: "gctrail"}.Moves()...)
	for query, want := range map[string]string{
		"SELECT toString(count()) FROM gctrail.gc":                     "300",
		"SELECT toString(max(time_ns)) FROM gctrail.gc":                fmt.Sprint(noon.UnixNano() + 299),
		"SELECT toString(sum(pause_ms)) FROM gctrail.gc":               "450",
		"SELECT toString(countIf(isNull(generation))) FROM gctrail.gc": "300",
		"SELECT toString(count()) FROM gctrail.gc_before":              "300",
		"SELECT toTypeName(time) FROM gctrail.gc LIMIT 1":              "DateTime64(9, 'UTC')",
	} {
		if got := value(t, c, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestReplicated makes the tables of a cluster whose servers are replicas.
func TestReplicated(t *testing.T) {
	c := created(t, Schema{Database: "gctrail", Cluster: hosttest.Cluster, Replicated: true, Days: 90})
	if err := c.CheckSchema(t.Context()); err != nil {
		t.Error(err)
	}
	const query = "SELECT toString(count()) FROM system.replicas WHERE replica_name = 'a' AND zookeeper_path LIKE '/clickhouse/tables/1/gctrail/%_local'"
	if got := value(t, c, query); got != "2" {
		t.Errorf("%s replicated tables", got)
	}
}

// TestSchemaOfCluster compares the statements for a cluster with the files in deploy.
func TestSchemaOfCluster(t *testing.T) {
	const folder = "../../deploy/clickhouse"
	s := Schema{Database: "gctrail", Cluster: "gctrail", Replicated: true, Days: 90}
	for name, statements := range map[string][]string{"cluster.sql": s.Statements(), "move.sql": s.Moves()} {
		path := filepath.Join(folder, name)
		want := strings.Join(statements, ";\n\n") + ";\n"
		if extent.Update() {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what the schema is: go test ./internal/fleet -run SchemaOfCluster -update (%v)", path, err)
		}
	}
}

func TestNoSchema(t *testing.T) {
	c := server(t)
	if err := c.CheckSchema(t.Context()); !NoSchema(err) {
		t.Errorf("without tables: %v", err)
	}
	if err := (&ClickHouse{URL: "http://127.0.0.1:1"}).CheckSchema(context.Background()); err == nil || NoSchema(err) {
		t.Errorf("without a server: %v", err)
	}
}
