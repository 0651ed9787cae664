//go:build linux

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/ledger"
)

// native is a library that allocates up to 1.2 GB of native memory in the program that
// preloads it, 4 MB every 20 ms or GROW_US.
const native = `
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void *grow(void *unused) {
	const char *pause = getenv("GROW_US");
	sleep(1);
	for (int i = 0; i < 300; i++) {
		void *p = mmap(0, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED) memset(p, 1, 4 << 20);
		usleep(pause ? atoi(pause) : 20000);
	}
	return 0;
}
__attribute__((constructor)) static void start(void) { pthread_t t; pthread_create(&t, 0, grow, 0); }
`

// TestLedgerOfKilled kills a program whose GC heap has grown, and one whose native
// memory has, and asks what they died with.
func TestLedgerOfKilled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, mode, grown string
		enough            float64
		env               []string
		memory            ledger.Part
	}{
		{"heap", "leak", "dotnet_gc_last_collection_memory_committed_size_bytes", 60e6, nil, ledger.Heap},
		{"native", "web", "gctrail_process_memory_native_bytes", 900e6, []string{"LD_PRELOAD=" + "library"}, ledger.Native},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.env {
				tt.env[i] = strings.Replace(tt.env[i], "library", nativeLibrary(t), 1)
			}
			file := dotnettest.Install(t, 10)
			folder := t.TempDir()
			a, _ := runAgent(t, "--listen", anyPort, "--name", filepath.Base(file), "--labels", "process", "--ledger", folder)
			program := dotnettest.StartFile(t, file, tt.mode, 600, tt.env...)
			who := `{process="` + program.Name + `"}`
			a.samplesUntil(t, "/metrics", func(s map[string]float64) bool { return s[tt.grown+who] >= tt.enough })
			if err := program.Cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			a.samplesUntil(t, "/metrics", func(s map[string]float64) bool { return s["gctrail_agent_processes_ended_total"] == 1 })
			all, err := ledger.List(folder)
			if err != nil || len(all) != 1 {
				t.Fatalf("%d ledgers, %v", len(all), err)
			}
			v := all[0].Judge()
			// The growth of the heap in the last moments may be too large for a decision.
			if v.Cause != ledger.Killed || v.Memory != tt.memory && v.Memory != ledger.Neither {
				t.Errorf("%q, %q: %s", v.Cause, v.Memory, v.Sentence)
			}
			code, out, talk := gctrail(t.Context(), "ledger", "--ledger", folder, program.Name)
			if code != 0 || !strings.Contains(out, "Timeline") || !strings.Contains(out, "native") {
				t.Errorf("exit code %d: %s%s", code, out, talk)
			}
		})
	}
}

// nativeLibrary compiles the library.
func nativeLibrary(t *testing.T) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("native memory is taken by a library in C: ", err)
	}
	folder := t.TempDir()
	source, library := filepath.Join(folder, "native.c"), filepath.Join(folder, "native.so")
	if err := os.WriteFile(source, []byte(native), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), compiler, "-shared", "-fPIC", "-o", library, source, "-lpthread").CombinedOutput(); err != nil {
		t.Skipf("native memory is taken by a library in C: %v: %s", err, out)
	}
	return library
}
