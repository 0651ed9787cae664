package cli

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/ledger"
)

// killedStart is when the trace of killedTrace begins; its process is killedPID.
var killedStart = time.Date(2026, 11, 21, 0, 3, 13, 563e6, time.UTC)

const killedPID = 5992

// writeLedger writes a ledger with a record for each second from a time on, of a
// process whose native memory grows by 100 MB a second until the kernel kills it.
func writeLedger(t *testing.T, pid int, from time.Time, seconds int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "web"+ledger.Suffix)
	w, err := ledger.Create(path, ledger.Process{PID: pid, Name: "web", Attached: from})
	if err != nil {
		t.Fatal(err)
	}
	for i := range seconds {
		size := func(mb int) gc.Opt[int64] { return gc.Some(int64(mb) * 1_000_000) }
		r := ledger.Record{
			Time: from.Add(time.Duration(i) * time.Second), RSS: size(150 + 100*i), Heap: size(80), Committed: size(100), HeapLeast: size(100), HeapMost: size(100),
			Used: size(160 + 100*i), Limit: size(600), Collections: gc.Some(int64(3)),
		}
		if err := w.Put(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(&ledger.End{Time: from.Add(time.Duration(seconds) * time.Second), OOMKills: 1}); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReportLedger reports on the trace of a killed process with its ledger, in all
// formats.
func TestReportLedger(t *testing.T) {
	path := writeLedger(t, killedPID, killedStart.Add(-3*time.Second), 8)
	const says = "killed by the kernel (out of memory) at 850 MB resident, 860 MB of the container's limit of 600 MB used: GC heap 100 MB resident (80.0 MB after the latest GC), native 750 MB: the GC is not the cause"
	code, out, talk := gctrail(t.Context(), "report", "--ledger", path, killedTrace)
	if words := strings.Join(strings.Fields(out), " "); code != 0 || !strings.Contains(words, "Memory: "+says) {
		t.Errorf("exit code %d, %s%s", code, talk, out)
	}
	// The trace takes 2.9 s.
	_, table, _ := strings.Cut(out, "Memory of the process, by the ledger")
	rows := strings.Split(strings.TrimSpace(strings.Split(table, "\n\n")[0]), "\n")
	if len(rows) != 5 || strings.Join(strings.Fields(rows[1])[:5], " ") != "0 450 80.0 100 350" || strings.Join(strings.Fields(rows[4])[:5], " ") != "3 750 80.0 100 650" {
		t.Errorf("the timeline is %q", rows)
	}

	code, out, talk = gctrail(t.Context(), "report", "--full", "--format", "json", "--ledger", path, killedTrace)
	var report struct {
		Processes []struct {
			Memory struct {
				End, Grew, Says string
				RSS             int64 `json:"rss_bytes"`
				Native          int64 `json:"native_bytes"`
				Timeline        []struct {
					At     float64 `json:"at_ms"`
					Native int64   `json:"native_bytes"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v, %s", code, err, talk)
	}
	m := report.Processes[0].Memory
	if m.End != "oom_killed" || m.Grew != "native" || m.Says != says || m.RSS != 850e6 || m.Native != 750e6 ||
		len(m.Timeline) != 4 || m.Timeline[0].At != 0 || m.Timeline[3].At != 3000 || m.Timeline[3].Native != 650e6 {
		t.Errorf("%+v", m)
	}
	if schema := resolved(t)["report"]; schema.Validate(decoded(t, out)) != nil {
		t.Error(schema.Validate(decoded(t, out)))
	}

	page := filepath.Join(t.TempDir(), "page.html")
	if code, _, talk = gctrail(t.Context(), "report", "--format", "html", "-o", page, "--ledger", path, killedTrace); code != 0 {
		t.Fatalf("exit code %d, %s", code, talk)
	}
	if head := pageHead(t, page); !strings.Contains(head, says) {
		t.Errorf("the page lacks the ledger: %s", head)
	}
}

// pageHead returns the block of a page that begins with what it says of its traces.
func pageHead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `id="columns">`)
	block, _, found := strings.Cut(rest, "<")
	packed, err := base64.StdEncoding.DecodeString(block)
	if !found || err != nil {
		t.Fatalf("no head: %v", err)
	}
	head, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	return string(head)
}

func decoded(t *testing.T, line string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestReportOtherLedger gives ledgers that do not belong to the trace.
func TestReportOtherLedger(t *testing.T) {
	for _, tt := range []struct {
		name, path, says string
		code             int
	}{
		{"another process", writeLedger(t, 7, killedStart, 3), "it is of web 7, of which the trace has no GC", exitUsage},
		{"another time", writeLedger(t, killedPID, killedStart.Add(time.Hour), 3), "it has no record from 2026-11-21 00:03:13 to 2026-11-21 00:03:16 UTC", exitUsage},
		{"no ledger", killedTrace, "not a ledger of gctrail", exitUnreadable},
	} {
		code, _, talk := gctrail(t.Context(), "report", "--ledger", tt.path, killedTrace)
		if code != tt.code || !strings.Contains(talk, tt.says) {
			t.Errorf("%s: exit code %d, %s", tt.name, code, talk)
		}
	}
}
