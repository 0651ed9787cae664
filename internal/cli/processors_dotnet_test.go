package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// A cpuShare is a cgroup of a test's own.
type cpuShare string

// newShare makes a cgroup with a file of the controller for processors, of whichever
// version the machine has; the test is skipped where that is not allowed.
func newShare(t *testing.T, name, v1, v1Value, v2, v2Value string) cpuShare {
	t.Helper()
	for _, c := range [...]struct{ mount, file, value string }{{"/sys/fs/cgroup/cpu", v1, v1Value}, {"/sys/fs/cgroup", v2, v2Value}} {
		folder := filepath.Join(c.mount, fmt.Sprintf("gctrail-test-%d-%s", os.Getpid(), name))
		if os.Mkdir(folder, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(folder) })
		if os.WriteFile(filepath.Join(folder, c.file), []byte(c.value), 0o644) == nil {
			return cpuShare(folder)
		}
	}
	t.Skip("no cgroup for processors can be made here")
	return ""
}

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
	quota := newShare(t, "quota", "cpu.cfs_quota_us", "20000", "cpu.max", "20000 100000")
	in := func(s cpuShare) []string {
		return []string{"sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, string(s), program, "web", "2"}
	}
	t.Run("quota", func(t *testing.T) {
		if ids, _ := shortages(t, in(quota)...); !slices.Contains(ids, "R16") {
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
		first := newShare(t, "first", "cpu.shares", "262144", "cpu.weight", "10000")
		ids, pct := shortages(t, in(first)...)
		short := slices.Contains(ids, "R17") || slices.Contains(ids, "R18")
		if slices.Contains(ids, "R16") || short && pct < 20 {
			t.Errorf("%.0f %% of the time waiting, and the report has %v", pct, ids)
		}
	})
}
