//go:build linux

package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestCollectRequests: collect --requests and run --requests record every request of a program.
func TestCollectRequests(t *testing.T) {
	t.Parallel()
	command := append([]string{"--"}, dotnettest.Shop(t)...)
	folder := t.TempDir()
	for _, record := range [][]string{
		{"collect", "--requests", "-o", filepath.Join(folder, "collect.nettrace")},
		{"run", "--requests", "-o", filepath.Join(folder, "runs")},
	} {
		if code, _, said := gctrail(t.Context(), append(record, command...)...); code != exitDone {
			t.Fatalf("%v: exit code %d: %s", record, code, said)
		}
	}
	traces, err := filepath.Glob(filepath.Join(folder, "*", "*.nettrace"))
	if err != nil || len(traces) != 1 {
		t.Fatalf("%q, %v", traces, err)
	}
	for _, trace := range append(traces, filepath.Join(folder, "collect.nettrace")) {
		code, out, said := gctrail(t.Context(), "requests", "--format", "jsonl", trace)
		if code != exitDone {
			t.Fatalf("exit code %d: %s", code, said)
		}
		count := make(map[string]int)
		for line := range strings.Lines(out) {
			var span struct {
				Name     string `json:"name"`
				Source   string `json:"source"`
				Kind     string `json:"kind"`
				TraceID  string `json:"trace_id"`
				Nested   bool   `json:"nested"`
				Complete bool   `json:"complete"`
			}
			if err := json.Unmarshal([]byte(line), &span); err != nil {
				t.Fatal(err)
			}
			if !span.Complete || len(span.TraceID) != 32 || span.Source != "Shop.Orders" || span.Nested != (span.Kind == "Client") {
				t.Errorf("%+v", span)
			}
			count[span.Name]++
		}
		if count["GET /orders"] != 210 || count["GET /report"] != 30 || count["db.query"] != 30 {
			t.Errorf("%s: %v", trace, count)
		}
	}
}
