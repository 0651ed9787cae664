//go:build linux

package cli

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestDump takes snapshots of real programs. They are whole, and no session is left, not
// even by a killed dump, that would make a later one collect.
func TestDump(t *testing.T) {
	t.Parallel()
	for _, version := range dotnettest.Due(t) {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			t.Parallel()
			// Without background collections: while one runs, the collections of young generations
			// list the heap, too, and are taken for a part of its snapshot.
			program := dotnettest.Start(t, version, "web", 60, "DOTNET_gcConcurrent=0")
			ctx := patient(t)
			dotnettest.Until(ctx, t, "the program collects", func() bool { return len(program.Truth()) > 0 }) // before, it has few objects
			pid, folder := strconv.Itoa(program.PID), t.TempDir()
			for repeat := 1; repeat <= 2; repeat++ {
				path := filepath.Join(folder, strconv.Itoa(repeat)+".nettrace")
				code, _, said := gctrail(ctx, "dump", "-p", pid, "-o", path, "--buffersize", "256", "--repeat", strconv.Itoa(repeat), "--every", "100ms")
				if code != exitDone {
					t.Fatalf("exit code %d: %s", code, said)
				}
				all, pauses, err := readSnapshots(path)
				if err != nil || len(all) < repeat {
					t.Fatalf("%d snapshots, %v: %s", len(all), err, said)
				}
				for _, s := range all {
					if !s.Missing.Whole() || s.Objects < 100 || s.Graph != nil || !pauses[s.Number].Known() {
						t.Errorf("GC %d: %d objects, %+v", s.Number, s.Objects, s.Missing)
					}
				}
				if !strings.Contains(said, "gctrail objects") || strings.Contains(said, "at least") {
					t.Error(said)
				}
			}

			killed := exec.CommandContext(ctx, executable(t), "dump", "-p", pid, "-o", filepath.Join(folder, "killed.nettrace"), "--repeat", "2", "--every", "1h")
			talk, err := killed.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := killed.Start(); err != nil {
				t.Fatal(err)
			}
			for lines := bufio.NewScanner(talk); lines.Scan() && !strings.Contains(lines.Text(), "snapshot 1"); {
			}
			_ = killed.Process.Kill()
			_ = killed.Wait() // its exit code says that it was killed

			path := filepath.Join(folder, "later.nettrace")
			if code, _, said := gctrail(ctx, "collect", "-p", pid, "-o", path, "--duration", "1s"); code != exitDone {
				t.Fatal(said)
			}
			if _, rows, _ := gctrail(ctx, "gcs", "--format", "csv", path); strings.Contains(rows, "Induced") {
				t.Errorf("a session after the last snapshot caused a collection:\n%s", rows)
			}
		})
	}
}

// TestDumpOfTrace takes snapshots beside a trace: with the names of their types, though a
// session goes on, and without their events in the trace.
func TestDumpOfTrace(t *testing.T) {
	t.Parallel()
	for _, version := range dotnettest.Due(t) {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			t.Parallel()
			program := dotnettest.Start(t, version, "web", 60, "DOTNET_gcConcurrent=0")
			ctx := patient(t)
			dotnettest.Until(ctx, t, "the program collects", func() bool { return len(program.Truth()) > 0 })
			path := filepath.Join(t.TempDir(), "web.nettrace")
			code, _, said := gctrail(ctx, "collect", "-p", strconv.Itoa(program.PID), "--duration", "1s", "--dump=start,end", "--yes", "-o", path)
			if code != exitDone {
				t.Fatalf("exit code %d: %s", code, said)
			}
			for _, when := range []string{"start", "end"} {
				all, _, err := readSnapshots(strings.Replace(path, ".nettrace", ".heap-"+when+".nettrace", 1))
				if err != nil || len(all) == 0 {
					t.Fatalf("%d snapshots at the %s, %v: %s", len(all), when, err, said)
				}
				for _, s := range all {
					named := 0
					for _, u := range s.Types {
						if u.Name != "" {
							named++
						}
					}
					if !s.Missing.Whole() || s.Objects < 100 || named == 0 {
						t.Errorf("%s: GC %d: %d objects, %d of %d types named, %+v", when, s.Number, s.Objects, named, len(s.Types), s.Missing)
					}
				}
			}
			if all, _, err := readSnapshots(path); err != nil || len(all) > 0 {
				t.Errorf("%d snapshots in the trace, %v", len(all), err)
			}
		})
	}
}
