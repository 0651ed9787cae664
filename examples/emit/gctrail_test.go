//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/cli"
	"github.com/gctrail/gctrail/internal/dotnettest"
)

// The test is the example, or gctrail, if it is called by that name.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "emit":
		main()
	case "gctrail":
		os.Exit(cli.Main(os.Args[1:]))
	default:
		os.Exit(m.Run())
	}
}

// binaries returns paths by which the example and gctrail can be run, in a
// folder for temporary files of theirs.
func binaries(t *testing.T) (emit, gctrail string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "x") // whose path has room for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	t.Setenv("TMPDIR", folder)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	emit, gctrail = filepath.Join(folder, "emit"), filepath.Join(folder, "gctrail")
	for _, name := range []string{emit, gctrail} {
		if err := os.Symlink(self, name); err != nil {
			t.Fatal(err)
		}
	}
	return emit, gctrail
}

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// raisedIn reads the example's last line.
func raisedIn(t *testing.T, out []byte) (raised summary, collections int) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &raised); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, kinds := range raised.Collections {
		for _, n := range kinds {
			collections += n
		}
	}
	return raised, collections
}

// gctrail starts the example and collects from it as from a .NET process.
func TestGctrailCollects(t *testing.T) {
	emit, gctrail := binaries(t)
	path := filepath.Join(t.TempDir(), "x.nettrace")
	cmd := command(t.Context(), gctrail, "collect", "-o", path, "--show-child-io", "--providers",
		"Microsoft-Windows-DotNETRuntime:0x8003:5,Microsoft-Windows-DotNETRuntimePrivate:0x1:4", "--", emit, "-serve", "1s")
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	raised, n := raisedIn(t, out)
	agree(t, path, raised, n)
}

// gctrail finds the example among the processes. Clients come and go, and are
// killed; the example continues, and its socket goes with it.
func TestGctrailAttaches(t *testing.T) {
	emit, gctrail := binaries(t)
	var printed bytes.Buffer
	example := command(t.Context(), emit, "-serve", "1m")
	example.Stdout = &printed
	if err := example.Start(); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(example.Process.Pid)
	dotnettest.Until(t.Context(), t, "gctrail lists the example", func() bool { return listed(t, gctrail, pid) })
	killed := command(t.Context(), gctrail, "collect", "-p", pid, "-o", filepath.Join(t.TempDir(), "killed.nettrace"))
	killed.Stderr = io.Discard
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.nettrace")
	collect := command(t.Context(), gctrail, "collect", "-p", pid, "-o", path, "--until", "gen>=0", "--after", "0s")
	collect.Stderr = io.Discard
	if out, err := collect.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	rows, err := command(t.Context(), gctrail, "gcs", "--format", "jsonl", path).Output()
	all := bytes.Split(bytes.TrimSpace(rows), []byte("\n"))
	// The first collection may have begun before the session.
	if last := all[len(all)-1]; err != nil || !bytes.Contains(last, []byte(`"complete":true`)) || bytes.Contains(last, []byte(`"affected_by_loss":true`)) {
		t.Errorf("%v: %s", err, rows)
	}
	if err := errors.Join(example.Process.Signal(os.Interrupt), example.Wait()); err != nil {
		t.Fatal(err)
	}
	if raised, n := raisedIn(t, printed.Bytes()); n == 0 || strconv.Itoa(raised.PID) != pid {
		t.Errorf("%+v", raised)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "dotnet-diagnostic-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// listed reports whether gctrail lists the example as it does a .NET process.
func listed(t *testing.T, gctrail, pid string) bool {
	t.Helper()
	out, err := command(t.Context(), gctrail, "ps").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 9 && words[0] == pid {
			got := strings.Join(append(words[1:5:5], words[6:]...), " ") // without the uptime
			if want := "emit .NET 10.0.0 x64 server, concurrent -"; runtime.GOARCH == "amd64" && got != want {
				t.Errorf("listed as %s, want %s", got, want)
			}
			return true
		}
	}
	return false
}
