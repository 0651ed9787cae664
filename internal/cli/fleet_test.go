package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/otlp"
	"github.com/gctrail/gctrail/internal/text"
)

// fleetFolder returns a store with the collections of eight processes of two
// versions, of which the second pauses twice as long, and the end of one.
func fleetFolder(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history")
	receiver := fleet.NewReceiver(&fleet.Folder{Path: path}, "", time.Millisecond)
	began := time.Now().Add(-time.Hour)
	var logs logspb.LogsData
	for i := range 8 {
		scope := &logspb.ScopeLogs{}
		for n := 1; n <= 200; n++ {
			at := time.Duration(n) * time.Second
			c := &gc.Collection{
				Process: &gc.Process{}, Number: uint32(n), Generation: gc.Some(0), Kind: gc.Blocking, Start: gc.Some(at), AllPauses: true,
				Pauses:    []gc.Pause{{Kind: gc.PauseBlocking, Start: at, Duration: time.Duration(1+i%2) * time.Duration(20+n%7) * time.Millisecond}},
				HeapAfter: gc.Some(int64(50 << 20)), Allocated: gc.Some(int64(6 << 20)), Promoted: gc.Some(int64(1 << 20)), Complete: true,
			}
			c.AllocatedQuality = gc.Exact
			if i == 3 && n == 7 {
				c.AllocatedQuality = gc.LowerBound
			}
			scope.LogRecords = append(scope.LogRecords, otlp.OfCollection(c, began.Add(at)))
		}
		if i == 5 {
			scope.LogRecords = append(scope.LogRecords, otlp.OfEnd(&otlp.End{
				Cause: "oom_killed", Memory: "native", RSS: gc.Some(int64(512e6)), Heap: gc.Some(int64(210e6)), Native: gc.Some(int64(230e6)),
			}, began.Add(201*time.Second)))
		}
		logs.ResourceLogs = append(logs.ResourceLogs, &logspb.ResourceLogs{
			Resource: otlp.NewResource(map[string]any{
				otlp.UID: fmt.Sprintf("%032x", i), "service.name": "shop", "service.version": fmt.Sprintf("1.%d", i%2),
				"k8s.pod.name": fmt.Sprintf("shop-%d", i), "process.executable.name": "Shop\x1b[31m", "process.pid": int64(20000 + i),
			}),
			ScopeLogs: []*logspb.ScopeLogs{scope},
		})
	}
	body, err := proto.Marshal(&logs)
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(http.MethodPost, "/v1/logs", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/x-protobuf")
	w := httptest.NewRecorder()
	receiver.Handler().ServeHTTP(w, req)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return path
}

// fleetRun runs a command of fleet, and returns its exit code and outputs.
func fleetRun(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	std := &stdio{out: &out, err: text.NewPrinter(&errs)}
	cmd := newRootCmd(std)
	cmd.SetArgs(append([]string{"fleet"}, args...))
	code := std.complain(cmd.ExecuteContext(t.Context()))
	return code, out.String(), errs.String()
}

func TestFleet(t *testing.T) {
	path := fleetFolder(t)
	t.Setenv(storeVariable, path)
	for _, test := range []struct {
		args []string
		want []string // in the output
		not  string
	}{
		{[]string{"top"}, []string{"2 groups with the most GC pause", "shop          1.1"}, "1.2"},
		{[]string{"top", "--service", "shop"}, []string{"  >5,030 ", "   5,030 "}, "~"},
		{[]string{"top", "--by", "k8s_pod", "--format", "csv"}, []string{",1258291200,lower_bound,", ",1258291200,exact,"}, "estimate"},
		{[]string{"top", "--by", "k8s_pod", "--where", "service_version=1.0"}, []string{"shop-0", "shop-6"}, "shop-1"},
		{[]string{"gcs", "--pod", "shop-3", "--where", "pause_ms>=52"}, []string{"The latest 20 records", "52.0", " 20003 "}, "shop-2"},
		{[]string{"oom"}, []string{"The latest record", "oom_killed", "native", "512", "210", "230"}, "exited"},
		{[]string{"compare", "service_version=1.0", "service_version=1.1"}, []string{"4 runs before", "+100 %"}, ""},
		{[]string{"compare", "--format", "markdown", "service_version=1.0", "service_version=1.1"}, []string{"|"}, ""},
	} {
		code, out, errs := fleetRun(t, test.args...)
		if code != 0 || errs != "" {
			t.Errorf("%v: exit %d, %s", test.args, code, errs)
		}
		for _, want := range test.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", test.args, want, out)
			}
		}
		if test.not != "" && strings.Contains(out, test.not) || strings.Contains(out, "\x1b") {
			t.Errorf("%v: %q or an escape in\n%s", test.args, test.not, out)
		}
	}
}

// TestFleetDamaged puts a file that is not Parquet beside the others: the answer is the same,
// and names the file.
func TestFleetDamaged(t *testing.T) {
	path := fleetFolder(t)
	t.Setenv(storeVariable, path)
	days, err := filepath.Glob(filepath.Join(path, "gc", "*"))
	if err != nil || len(days) == 0 {
		t.Fatal(days, err)
	}
	commands := [][]string{{"top"}, {"gcs", "--format", "jsonl"}, {"compare", "--format", "json", "service_version=1.0", "service_version=1.1"}}
	answers := make([]string, len(commands))
	for i, args := range commands {
		_, answers[i], _ = fleetRun(t, args...)
	}
	if err := os.WriteFile(filepath.Join(days[0], "damaged.parquet"), []byte("no Parquet in here"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, args := range commands {
		code, out, errs := fleetRun(t, args...)
		if code != 0 || out != answers[i] {
			t.Errorf("%v: exit %d, %s\nwant %s", args, code, out, answers[i])
		}
		if !strings.Contains(errs, "rows of 1 damaged file are missing") || !strings.Contains(errs, "damaged.parquet") {
			t.Errorf("%v: says %q", args, errs)
		}
	}
}

func TestFleetLines(t *testing.T) {
	path := fleetFolder(t)
	code, out, errs := fleetRun(t, "gcs", "--store", path, "--format", "jsonl", "--top", "3")
	if code != 0 {
		t.Fatalf("exit %d, %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	var row map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &row); err != nil {
		t.Fatal(err)
	}
	if row["number"] != 200.0 || row["heap_after_bytes"] != float64(50<<20) || row["promoted_bytes"] == nil || row["committed_after_bytes"] != nil {
		t.Errorf("row %v", row)
	}
}

func TestFleetRefuses(t *testing.T) {
	path := fleetFolder(t)
	t.Setenv(storeVariable, "")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"top"}, exitUsage, "no store"},
		{[]string{"tip"}, exitUsage, "unknown command"},
		{[]string{"top", "--store", "http://"}, exitUsage, "address of a ClickHouse server"},
		{[]string{"top", "--store", "http://127.0.0.1:1/x"}, exitUnreadable, "refused"},
		{[]string{"top", "--store", t.TempDir()}, exitUnreadable, "gctrail fleet receive --store"},
		{[]string{"top", "--store", path, "--by", "colour"}, exitUsage, `unknown column "colour"; list the columns with: gctrail fleet schema`},
		{[]string{"top", "--store", path, "--by", "pod"}, exitUsage, `unknown column "pod"; did you mean k8s_pod; list`},
		{[]string{"gcs", "--store", path, "--where", "pause_ms=long"}, exitUsage, "is a number"},
		{[]string{"gcs", "--store", path, "--from", "1h", "--to", "2h"}, exitUsage, "--from is not before --to"},
		{[]string{"gcs", "--store", path, "--from", "soon"}, exitUsage, "how long ago"},
		{[]string{"compare", "--store", path, "service_version=1"}, exitUsage, "expected two selections"},
		{[]string{"compare", "--store", path, "service_version=8", "service_version=9"}, exitUnreadable, "no collections on the side BEFORE"},
		{[]string{"query", "--store", path, "SELECT 1"}, exitUnsupported, "duckdb"},
		{[]string{"receive", "--store", path, "--listen", "0.0.0.0:0"}, exitUsage, "--token-file"},
		{[]string{"receive", "--store", path, "--listen", "nowhere"}, exitUsage, "HOST:PORT"},
		{[]string{"schema", "--apply", "--store", path}, exitUsage, "a folder needs no schema"},
	} {
		code, _, errs := fleetRun(t, test.args...)
		if code != test.code || !strings.Contains(errs, test.want) {
			t.Errorf("%v: exit %d, want %d: %s", test.args, code, test.code, errs)
		}
	}
	if code, _, errs := fleetRun(t, "gcs", "--store", path, "--where", "service_name=other"); code != 0 || !strings.Contains(errs, "no records match") {
		t.Errorf("nothing selected: exit %d, %s", code, errs)
	}
}

// TestMoveFails: if a move fails halfway, the error says where the rows are.
func TestMoveFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if statement, _ := io.ReadAll(req.Body); bytes.HasPrefix(statement, []byte("CREATE TABLE")) {
			http.Error(w, "Code: 243. DB::Exception: no space left", http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "statement 2 of 3: ClickHouse: Code: 243. DB::Exception: no space left\n"},
		{[]string{"--move"}, "statement 4 of 7: ClickHouse: Code: 243. DB::Exception: no space left; all rows are still there"},
	} {
		code, _, errs := fleetRun(t, append([]string{"schema", "--apply", "--store", server.URL + "/gctrail"}, test.args...)...)
		if code != exitUnreadable || !strings.Contains(errs, test.want) {
			t.Errorf("%v: exit %d, %s", test.args, code, errs)
		}
	}
}
