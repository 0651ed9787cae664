package lttng

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fake records commands.
type fake struct {
	calls  []string
	listed []string // sessions
	dead   []int    // PIDs that do not run
	fail   string   // command
}

func (f *fake) system() *System {
	return &System{
		Run: func(args ...string) ([]byte, error) {
			if args[0] == "--mi=xml" {
				var b strings.Builder
				for _, name := range f.listed {
					fmt.Fprintf(&b, "<session><name>%s</name><path>/x</path></session>", name)
				}
				return []byte(b.String()), nil
			}
			f.calls = append(f.calls, strings.Join(args, " "))
			if commandOf(args) == f.fail {
				return nil, &Error{f.fail, "no", errors.New("exit status 1")}
			}
			return nil, nil
		},
		Runs: func(pid int) bool { return !slices.Contains(f.dead, pid) },
	}
}

// TestSequence compares the commands with the ones that make a session by hand.
func TestSequence(t *testing.T) {
	f := new(fake)
	path := filepath.Join(t.TempDir(), "x")
	s, err := Start(f.system(), &Options{
		Path: path, Events: []string{"DotNETRuntime:GCStart_V2", "DotNETRuntime:GCEnd_V1"}, PIDs: []int{7, 8}, BufferMB: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Stop(), s.Stop()); err != nil || s.path != path {
		t.Error(err, s.path)
	}
	name := fmt.Sprintf("gctrail-%d", os.Getpid())
	want := []string{
		"create " + name + " --output=" + path,
		"enable-channel --userspace --session=" + name + " --num-subbuf=4 --subbuf-size=4194304 --switch-timer=1000000 gctrail",
		"track --userspace --session=" + name + " --vpid=7,8",
		"enable-event --userspace --session=" + name + " --channel=gctrail DotNETRuntime:GCStart_V2,DotNETRuntime:GCEnd_V1",
		"add-context --userspace --session=" + name + " --channel=gctrail --type=vpid --type=vtid --type=procname",
		"start " + name,
		"stop " + name,
		"destroy " + name,
	}
	if d := cmp.Diff(want, f.calls); d != "" {
		t.Error(d)
	}
}

// TestFailures: whichever command fails, no session is left.
func TestFailures(t *testing.T) {
	for _, command := range []string{"create", "enable-channel", "track", "enable-event", "add-context", "start"} {
		f := &fake{fail: command}
		_, err := Start(f.system(), &Options{Path: "x", Events: []string{"a:b"}, PIDs: []int{7}})
		failed, ok := errors.AsType[*Error](err)
		if !ok || failed.Command != command {
			t.Errorf("%s: %v", command, err)
		}
		last := f.calls[len(f.calls)-1]
		if left := strings.HasPrefix(last, "destroy"); left == (command == "create") {
			t.Errorf("%s: the last command is %s", command, last)
		}
	}
}

// TestOrphans ends the sessions of gctrail processes that do not run any more.
func TestOrphans(t *testing.T) {
	f := &fake{listed: []string{"gctrail-11", "gctrail-12", "gctrail-x", "auto-1", fmt.Sprintf("gctrail-%d", os.Getpid())}, dead: []int{11, os.Getpid()}}
	EndOrphans(f.system())
	if d := cmp.Diff([]string{"stop gctrail-11", "destroy gctrail-11"}, f.calls); d != "" {
		t.Error(d)
	}
}

func TestPowerOfTwo(t *testing.T) {
	for n, want := range map[uint64]uint64{1: 1, 2: 2, 3: 4, 1 << 20: 1 << 20, 5 << 19: 1 << 22} {
		if got := powerOfTwo(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

// TestNative: a failing command is named with its reason, and running processes are
// distinguished from ended ones.
func TestNative(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("LTTng is not for Windows")
	}
	_, err := run("/bin/sh", []string{"-c", "echo Warning: x >&2; echo Error: y >&2; exit 3"})
	failed, ok := errors.AsType[*Error](err)
	if !ok || failed.Said != "y" {
		t.Errorf("%v", err)
	}
	if !runs(os.Getpid()) || runs(1<<30) {
		t.Error("which processes run is not known")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Native(); !errors.Is(err, ErrNotInstalled) {
		t.Error(err)
	}
}
