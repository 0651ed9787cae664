package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// shortages collects a trace of a command, and returns what its report says.
func shortages(t *testing.T, command ...string) (ids []string, waitPct float64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.nettrace")
	gctrail := func(args ...string) []byte {
		var out, talk bytes.Buffer
		cmd := newRootCmd(&stdio{out: &out, err: text.NewPrinter(&talk)})
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(context.Background()); err != nil {
			t.Fatal(err, talk.String())
		}
		return out.Bytes()
	}
	gctrail(append([]string{"collect", "-o", file, "--"}, command...)...)
	var report struct {
		Processes []struct {
			Findings   []struct{ ID string }
			Processors struct {
				WaitPct *float64 `json:"thread_wait_pct"`
			}
		}
	}
	if err := json.Unmarshal(gctrail("report", "--full", "--format", "json", file), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Processes) != 1 || report.Processes[0].Processors.WaitPct == nil {
		t.Fatalf("%+v", report)
	}
	for _, f := range report.Processes[0].Findings {
		ids = append(ids, f.ID)
	}
	return ids, *report.Processes[0].Processors.WaitPct
}

// TestShortages runs one program alone, beside busy loops and under a CPU quota. Each
// report must name the shortage of that run and no other, although other programs may load
// the machine at any time.
func TestShortages(t *testing.T) {
	program := dotnettest.Install(t, 10)
	t.Setenv("DOTNET_GCgen0size", "40000") // so that there are GCs however slow the program is
	quota := dotnettest.NewQuota(t)
	t.Run("quota", func(t *testing.T) {
		if ids, _ := shortages(t, quota.Run(program, "web", "2")...); !slices.Contains(ids, "R16") {
			t.Errorf("throttled, and the report has %v", ids)
		}
	})
	t.Run("load", func(t *testing.T) {
		for range 4 * runtime.NumCPU() {
			loop := exec.Command("sh", "-c", "while :; do :; done")
			if err := loop.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = loop.Process.Kill()
				_ = loop.Wait()
			}()
		}
		if ids, pct := shortages(t, program, "web", "2"); !slices.Contains(ids, "R17") || slices.Contains(ids, "R16") {
			t.Errorf("beside busy loops, %.0f %% of the time waiting, and the report has %v", pct, ids)
		}
	})
	t.Run("quiet", func(t *testing.T) {
		first := dotnettest.NewCPUShare(t, "first", "cpu.shares", "262144", "cpu.weight", "10000")
		ids, pct := shortages(t, first.Run(program, "web", "2")...)
		short := slices.Contains(ids, "R17") || slices.Contains(ids, "R18")
		if slices.Contains(ids, "R16") || short && pct < 20 {
			t.Errorf("%.0f %% of the time waiting, and the report has %v", pct, ids)
		}
	})
}

// TestGCTime records a program with server GC. Its threads take a part of the program's
// processor time, which diff shows as well.
func TestGCTime(t *testing.T) {
	program, dir := dotnettest.Install(t, 10), t.TempDir()
	t.Setenv("DOTNET_gcServer", "1")
	t.Setenv("DOTNET_GCgen0size", "40000")
	gctrail := func(args ...string) []byte {
		t.Helper()
		var out, talk bytes.Buffer
		cmd := newRootCmd(&stdio{out: &out, err: text.NewPrinter(&talk)})
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(context.Background()); err != nil {
			t.Fatal(err, talk.String())
		}
		return out.Bytes()
	}
	file := filepath.Join(dir, "a.nettrace")
	gctrail("collect", "-o", file, "--", program, "web", "2")
	var report struct {
		Processes []struct {
			Processors struct {
				Threads *int     `json:"gc_threads"`
				Run     *float64 `json:"thread_run_ms"`
				GC      *float64 `json:"gc_cpu_ms"`
				Most    *float64 `json:"gc_cpu_max_ms"`
			}
		}
	}
	if err := json.Unmarshal(gctrail("report", "--full", "--format", "json", file), &report); err != nil {
		t.Fatal(err)
	}
	p := report.Processes[0].Processors
	if p.Threads == nil || *p.Threads < 1 || p.GC == nil || *p.GC <= 0 || *p.GC >= *p.Run || p.Most != nil {
		t.Errorf("%+v", p)
	}
	if out := gctrail("diff", "--format", "json", file, file); !bytes.Contains(out, []byte(`"gc_cpu_pct"`)) {
		t.Errorf("diff: %s", out)
	}
}
