// Package dotnettest has .NET runtimes for tests. It starts real programs: gcload-net8, -net9
// and -net10, which exercise the collector and record its work. Tests that need them skip if
// they are not available. A Runtime plays one: a server of the diagnostics protocol that takes
// sessions and writes traces. The package also checks the resulting traces, and reads the heap
// snapshots in them.
//
// Until, Poll and Output wait for what another program does, in tests of all packages.
package dotnettest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/extent"
)

// Versions are the major versions of the programs' runtimes.
var Versions = []int{8, 9, 10}

// Often is a setting that makes a program collect often, with 6 MB for generation 0: a
// hundred times a second or more on a quiet machine.
const Often = "DOTNET_GCgen0size=0x600000"

// A Program is a gcload that runs, or has run.
type Program struct {
	*exec.Cmd
	Name string // of its file, which no other program has
	PID  int

	t      testing.TB
	truth  string
	stdout bytes.Buffer
	waits  waits
}

// Start starts gcload with a runtime of a version in a mode (web, idle, …) for
// some seconds, with more variables in its environment. It ends with the test.
func Start(t testing.TB, version int, mode string, seconds int, env ...string) *Program {
	t.Helper()
	return StartFile(t, Install(t, version), mode, seconds, env...)
}

// StartFile starts a file that Install has made.
func StartFile(t testing.TB, file, mode string, seconds int, env ...string) *Program {
	t.Helper()
	return run(t, filepath.Base(file), filepath.Join(filepath.Dir(file), "truth"), []string{file, mode, strconv.Itoa(seconds)}, env...)
}

// Restart starts the same file once more, when the program has ended.
func (p *Program) Restart(mode string, seconds int, env ...string) *Program {
	p.t.Helper()
	return run(p.t, p.Name, p.truth+"-again", []string{p.Path, mode, strconv.Itoa(seconds)}, env...)
}

// run starts a program with a command line, which writes its records to the file truth.
func run(t testing.TB, name, truth string, command []string, env ...string) *Program {
	t.Helper()
	p := &Program{Cmd: exec.Command(command[0], command[1:]...), Name: name, t: t, truth: truth}
	p.Cmd.Env = append(append(os.Environ(), "GCLOAD_TRUTH="+p.truth), env...)
	p.Cmd.Stdout, p.Cmd.Stderr = &p.stdout, os.Stderr
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.PID = p.Cmd.Process.Pid
	p.waits.threads = make(map[string]time.Duration)
	ended := make(chan struct{})
	go p.waits.watch(p.PID, ended)
	t.Cleanup(func() {
		close(ended)
		_ = p.Cmd.Process.Kill()
		_ = p.Cmd.Wait()
		RemoveSockets(p.PID)
	})
	return p
}

// Terminate asks the runtime to end the program, and waits until it has. Unlike a killed
// program, it ends its traces.
func (p *Program) Terminate() {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	_ = p.Cmd.Wait() // its exit code says that it was asked
}

// RemoveSockets removes the files of a killed runtime in the folder for temporary files,
// because every search for processes would try them.
func RemoveSockets(pid int) {
	for _, name := range []string{"dotnet-diagnostic-%d-*", "clr-debug-pipe-%d-*"} {
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf(name, pid)))
		for _, path := range left {
			_ = os.Remove(path)
		}
	}
}

// Install copies the program of a version to a folder of the test, under a name that no
// other test uses, and returns its path.
func Install(t testing.TB, version int) string {
	t.Helper()
	needsLinux(t)
	name := "gcload-net" + strconv.Itoa(version)
	in, err := os.Open(find(name))
	if err != nil {
		t.Skip("no .NET program is available: ", err)
	}
	defer in.Close()
	dir, err := os.MkdirTemp("", name+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, filepath.Base(dir))
	// A file that is open for writing cannot be run, nor while a child has it open too.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// needsLinux skips a test where .NET programs are not to be run, or cannot be.
func needsLinux(t testing.TB) {
	t.Helper()
	extent.Long(t, "runs a real .NET process for seconds")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the .NET programs are for Linux on x64")
	}
}

// find returns the path of a program: in the folder dotnet of GCTRAIL_SHARED,
// or of shared beside the module.
func find(name string) string {
	if shared := os.Getenv("GCTRAIL_SHARED"); shared != "" {
		return filepath.Join(shared, "dotnet", name)
	}
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", "shared", "dotnet", name)
}

// Totals are the program's counts of its whole run.
type Totals struct {
	Collections int     `json:"gen0_collections"`
	Gen1        int     `json:"gen1_collections"` // of gen1 and older
	Gen2        int     `json:"gen2_collections"`
	PauseMS     float64 `json:"total_pause_ms"`
	Allocated   int64   `json:"total_allocated_bytes"`
}

// Ended waits for the end of the program.
func (p *Program) Ended() {
	p.t.Helper()
	if p.Cmd.ProcessState != nil {
		return
	}
	if err := p.Cmd.Wait(); err != nil {
		p.t.Fatal(err)
	}
}

// Totals waits for the end of the program and returns its counts.
func (p *Program) Totals() Totals {
	p.t.Helper()
	p.Ended()
	var t Totals
	if err := json.Unmarshal(p.stdout.Bytes(), &t); err != nil {
		p.t.Fatalf("%v: %s", err, p.stdout.Bytes())
	}
	return t
}

// A Truth is the runtime's own account of a collection (GC.GetGCMemoryInfo).
type Truth struct {
	Number      uint32     `json:"index"`
	Generation  int        `json:"generation"`
	Concurrent  bool       `json:"concurrent"`
	Promoted    int64      `json:"promoted"`
	Pinned      int64      `json:"pinned"`
	Pauses      [2]int64   `json:"pause_us"`
	Generations [][4]int64 `json:"generations"` // size and fragmentation before, and after
}

// Truth returns the program's records of the collections that it saw end.
func (p *Program) Truth() []Truth {
	p.t.Helper()
	f, err := os.Open(p.truth)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has just begun
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	var all []Truth
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var t Truth
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			break // the last line, if the program was killed
		}
		if t.Pauses != [2]int64{} { // else it was seen before its end
			all = append(all, t)
		}
	}
	return all
}
