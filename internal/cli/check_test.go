package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestLargestHeap compares the commands' figures on the largest heap of a run whose heap
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

// TestBudgetOfIncomplete: a budget leaves out a trace that is cut, since whole runs cost more,
// and is not written where no trace is left.
func TestBudgetOfIncomplete(t *testing.T) {
	data := tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
	dir := t.TempDir()
	cut, whole, limits := filepath.Join(dir, "cut.nettrace"), filepath.Join(dir, "whole.nettrace"), filepath.Join(dir, "budget.yaml")
	if err := errors.Join(os.WriteFile(cut, data[:len(data)/4], 0o600), os.WriteFile(whole, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, said, code := on(t, 0, "check", "--init", limits, cut); code != exitUsage || !strings.Contains(said, "not written") {
		t.Errorf("of a cut trace: exit code %d: %s", code, said)
	}
	if _, err := os.Stat(limits); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the budget of a cut trace: %v", err)
	}
	_, said, code := on(t, 0, "check", "--init", limits, cut, whole)
	if code != exitDone || !strings.Contains(said, "cut.nettrace: left out") || !strings.Contains(said, "made from 1 run") {
		t.Errorf("of a cut and a whole trace: exit code %d: %s", code, said)
	}
	if out, said, code := on(t, 0, "check", "--budget", limits, whole); code != exitDone || !strings.Contains(out, "ok") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
}

// TestOneTraceAllocatedOnce: report, check and diff show the same allocated bytes of a trace,
// with the same mark.
func TestOneTraceAllocatedOnce(t *testing.T) {
	budget := filepath.Join(t.TempDir(), "budget.yaml")
	if err := os.WriteFile(budget, []byte("version: 1\nlimits: {allocated_bytes: 1e12}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, mark := range map[string]string{
		"net10-wks-allocs-snapshot.nettrace.gz": "~", "net10-wks-web-collect.nettrace.gz": ">", "net30-win-x64-survival.nettrace.gz": "",
	} {
		trace := filepath.Join("..", "..", "testdata", name)
		var shown []string
		for _, of := range []struct {
			args []string
			cell string
		}{
			{[]string{"report", trace}, `(?m)^  Allocated +(\S+ \S+)`},
			{[]string{"check", "--budget", budget, trace}, ` allocated (\S+ \S+), limit`},
			{[]string{"diff", trace, trace}, `(?m)^(?:same|cannot tell) +allocated per run +(\S+ \S+)`},
		} {
			_, out, said := gctrail(t.Context(), of.args...)
			found := regexp.MustCompile(of.cell).FindStringSubmatch(out)
			if found == nil {
				t.Fatalf("%s of %s: %s%s", of.args[0], name, out, said)
			}
			shown = append(shown, found[1])
		}
		if shown[1] != shown[0] || shown[2] != shown[0] || strings.Trim(shown[0], "0123456789.MGkB ") != mark {
			t.Errorf("%s: %q, want one figure, marked %q", name, shown, mark)
		}
	}
}
