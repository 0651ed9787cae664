//go:build linux

package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/ledger"
)

// A death is a program that runs until the limit of its container, or of its GC heap, ends
// it.
type death struct {
	container string // its limit
	heap      string // the limit of the GC heap, hexadecimal; by default 75 % of the container's
	program   string // of lab.dll, with its arguments
	native    bool   // a library allocates native memory meanwhile
	grows     ledger.Part
}

// deaths covers programs that keep small, large and pinned objects, and programs that keep
// none.
var deaths = []death{
	{"70M", "", "evleak 600", false, ledger.Heap},
	{"100M", "10000000", "poh 600 20000", false, ledger.Heap},
	{"120M", "20000000", "cache 600", false, ledger.Heap},
	{"150M", "", "poh 600 20000", false, ledger.Heap},
	{"130M", "", "cache 600", false, ledger.Heap},
	{"250M", "20000000", "poh 600 40000", false, ledger.Heap},
	{"80M", "20000000", "timers 600", false, ledger.Heap},
	{"120M", "", "cpu 600", true, ledger.Native},
	{"200M", "8000000", "leak 600", true, ledger.Native},
	{"300M", "", "burst 600", true, ledger.Native},
	{"400M", "", "concat 600", true, ledger.Native},
	{"500M", "10000000", "poh 600 2000", true, ledger.Native},
}

// TestLedgerOfDeaths compares the ledger's verdicts on deaths in containers with the memory
// that grew. The ledger may be undecided in few cases, and wrong in none.
func TestLedgerOfDeaths(t *testing.T) {
	lab, library := dotnettest.Lab(t), nativeLibrary(t)
	folder := t.TempDir()
	runAgent(t, "--listen", anyPort, "--name", "lab", "--ledger", folder)

	const atOnce, enough = 3, 7 // five of them may end within half a second
	var ended sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	verdicts := make([]deathVerdict, len(deaths))
	for i := range deaths {
		d := &deaths[i]
		group := newContainer(t, fmt.Sprintf("gctrail-death-%d-%d", os.Getpid(), i), d.container)
		ended.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			verdicts[i] = d.die(lab, library, group, folder)
		})
	}
	ended.Wait()
	right := 0
	for i := range deaths {
		d, v := &deaths[i], &verdicts[i]
		if v.err != nil {
			t.Error(v.err)
			continue
		}
		if v.missed {
			t.Logf("%s, %q, %s: no session began in the %v that it ran", d.container, d.heap, d.program, v.ran)
			continue
		}
		t.Logf("%s, %q, %s, %s: %s", d.container, d.heap, d.program, d.grows, v.Sentence)
		switch {
		case v.Memory == d.grows:
			right++
		case v.Memory != ledger.Neither:
			t.Errorf("%s grew, not %s", d.grows, v.Memory)
		}
		if byKernel := v.kills > 0; byKernel != (v.Cause == ledger.OOMKilled) {
			t.Errorf("killed by the kernel: %v, and the end is %q", byKernel, v.Cause)
		}
	}
	if right < enough {
		t.Errorf("%d of %d are known, fewer than %d", right, len(deaths), enough)
	}
}

// newContainer makes a memory cgroup with a limit, and removes it at the end. It skips the
// test where that is not possible.
func newContainer(t *testing.T, name, limit string) string {
	t.Helper()
	group, file := filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		group, file = filepath.Join("/sys/fs/cgroup", name), "memory.max"
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("no memory cgroup: ", err)
	}
	t.Cleanup(func() { _ = os.Remove(group) })
	if err := os.WriteFile(filepath.Join(group, file), []byte(limit), 0o644); err != nil {
		t.Skip("no limit for a memory cgroup: ", err)
	}
	for _, swap := range []string{"memory.swap.max", "memory.memsw.limit_in_bytes"} {
		value := limit
		if swap == "memory.swap.max" {
			value = "0"
		}
		_ = os.WriteFile(filepath.Join(group, swap), []byte(value), 0o644) // is not there without swap
	}
	return group
}

// A deathVerdict holds the ledger's verdict on a death, and the kernel's count of kills.
type deathVerdict struct {
	ledger.Verdict
	kills  int
	ran    time.Duration
	missed bool // it ended before the agent began a session
	err    error
}

// brief is the time in which a program may end before the agent begins a session.
const brief = 500 * time.Millisecond

// die runs the program in its container until it has ended, and waits for the ledger's
// verdict.
func (d *death) die(lab []string, library, group, folder string) (v deathVerdict) {
	arguments := []string{"-c", `echo $$ >"$0/cgroup.procs" && exec env "$@"`, group}
	if d.native {
		arguments = append(arguments, "LD_PRELOAD="+library, "GROW_US=100000")
	}
	if d.heap != "" {
		arguments = append(arguments, "DOTNET_GCHeapHardLimit="+d.heap)
	}
	cmd := exec.Command("sh", append(append(arguments, lab...), strings.Fields(d.program)...)...)
	started := time.Now()
	if v.err = cmd.Start(); v.err != nil {
		return v
	}
	pid := cmd.Process.Pid
	if err := cmd.Wait(); err == nil {
		v.err = fmt.Errorf("%s did not die", d.program)
		return v
	}
	v.ran = time.Since(started)
	patience := dotnettest.Patience
	if v.ran < brief {
		patience = 10 * time.Second
	}
	defer dotnettest.RemoveSockets(pid)
	v.kills = killsIn(group)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	judged := dotnettest.Poll(ctx, func() bool {
		all, _ := ledger.List(folder)
		for _, l := range all {
			if l.PID == pid && l.End != nil {
				v.Verdict = l.Judge()
				return true
			}
		}
		return false
	})
	if v.missed = !judged && v.ran < brief; !judged && !v.missed {
		v.err = fmt.Errorf("no ledger of %s, process %d", d.program, pid)
	}
	return v
}

// killsIn returns how many processes of a cgroup the kernel has killed.
func killsIn(group string) (kills int) {
	for _, name := range []string{"memory.oom_control", "memory.events"} {
		text, err := os.ReadFile(filepath.Join(group, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			_, _ = fmt.Sscanf(line, "oom_kill %d", &kills)
		}
	}
	return kills
}
