package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargestHeap compares what the commands say of the largest heap of a run whose heap
// was much larger before its collections than after them.
func TestLargestHeap(t *testing.T) {
	const trace = "../../testdata/net10-srv-web-2.nettrace.gz"
	const want, after = 132_804_336, 39_929_632

	budget := filepath.Join(t.TempDir(), "budget.yaml")
	if err := os.WriteFile(budget, []byte("version: 1\nlimits: {heap_peak_bytes: 50e6}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type metrics []struct {
		Name   string    `json:"name"`
		Before float64   `json:"before"`
		Value  float64   `json:"value"`
		Values []float64 `json:"values"`
	}
	decode := func(code int, into any, args ...string) {
		t.Helper()
		out, said, got := on(t, 0, append(args, trace)...)
		if got != code {
			t.Errorf("%s: exit code %d, want %d: %s", args[0], got, code, said)
		}
		if err := json.Unmarshal([]byte(out), into); err != nil {
			t.Fatalf("%s: %v in %q", args[0], err, out)
		}
	}
	got := make(map[string]float64)

	var report struct {
		Processes []struct {
			Totals struct {
				Heap struct {
					Peak float64 `json:"peak_bytes"`
				} `json:"heap"`
			} `json:"totals"`
		} `json:"processes"`
	}
	decode(exitDone, &report, "report", "--format", "json", "--full")
	got["report"] = report.Processes[0].Totals.Heap.Peak

	var diff, trend struct {
		Metrics metrics `json:"metrics"`
	}
	decode(exitDone, &diff, "diff", "--format", "json", trace)
	decode(exitDone, &trend, "trend", "--format", "json", trace)
	for i, m := range diff.Metrics {
		if m.Name == "heap_peak_bytes" {
			got["diff"], got["trend"] = m.Before, trend.Metrics[i].Values[1]
		}
	}

	var check struct {
		Checks metrics `json:"checks"`
	}
	decode(exitOverBudget, &check, "check", "--format", "json", "--budget", budget)
	got["check"] = check.Checks[0].Value

	for command, size := range got {
		if size != want {
			t.Errorf("%s: the largest heap is %.0f bytes, want %d (not the %d after a GC)", command, size, want, after)
		}
	}
	for _, args := range [][]string{{"heap"}, {"report", "--format", "markdown"}, {"diff", trace}, {"trend"}} {
		if out, _, _ := on(t, 0, append(args, trace)...); !strings.Contains(out, "133 MB") {
			t.Errorf("%s does not say 133 MB:\n%s", args[0], out)
		}
	}
}
