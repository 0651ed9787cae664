package collect

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/hosttest"
	"github.com/gctrail/gctrail/internal/lttng"
	"github.com/gctrail/gctrail/open"
)

// collectKeyword is the request of profile gc-collect.
var collectKeyword = []diag.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: 4}}

// recordLTTng runs an LTTng, and returns its notices. It calls began when the session
// runs.
func recordLTTng(ctx context.Context, t *testing.T, system *lttng.System, processes []*diag.Process, began func()) ([]Notice, error) {
	t.Helper()
	var mu sync.Mutex
	var notices []Notice
	l := &LTTng{System: system, Processes: processes, Options: &Options{
		Config: diag.Config{Providers: collectKeyword}, Plan: new(Plan), Output: t.TempDir() + string(os.PathSeparator),
		Notify: func(n Notice) {
			mu.Lock()
			notices = append(notices, n)
			mu.Unlock()
			if _, ok := n.(Recording); ok {
				began()
			}
		},
	}}
	err := l.Run(ctx)
	return notices, err
}

// TestLTTng records until it is interrupted, and until the processes have ended, with a
// command whose session writes an existing trace.
func TestLTTng(t *testing.T) {
	const path = "../../testdata/net9-lttng-snapshot.trace.zip"
	var want int64
	in, err := open.File(path, open.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var m gc.Model
	for _, err := range m.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		want++
	}
	for _, exits := range []bool{false, true} {
		var enabled, folder string
		system := &lttng.System{
			Run: func(args ...string) ([]byte, error) {
				switch args[0] {
				case "create":
					folder = strings.TrimPrefix(args[2], "--output=")
				case "enable-event":
					enabled = args[len(args)-1]
				case "stop":
					unzip(t, path, folder)
				}
				return nil, nil
			},
			Runs: func(int) bool { return !exits },
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		began := func() {}
		if !exits {
			began = stop
		}
		notices, err := recordLTTng(ctx, t, system, []*diag.Process{{PID: 7, Name: "web"}}, began)
		if err != nil || len(notices) != 2 {
			t.Fatalf("%v, %+v", err, notices)
		}
		r := notices[1].(Ended)
		if r.Collections != want || want == 0 || r.Path == "" || r.Size == 0 || !strings.HasPrefix(filepath.Base(r.Path), "web_") {
			t.Errorf("%d collections, want %d; %s, %d bytes", r.Collections, want, r.Path, r.Size)
		}
		// Version 0 of GCStart has the runtime raise the newer ones.
		for _, name := range []string{"DotNETRuntime:GCStart", "DotNETRuntime:GCStart_V2", "DotNETRuntime:GCHeapStats_V2"} {
			if !slices.Contains(strings.Split(enabled, ","), name) {
				t.Errorf("%s is not enabled", name)
			}
		}
		if strings.Contains(enabled, "GCAllocationTick") || strings.Contains(enabled, "GCBulk") {
			t.Errorf("too much is enabled: %s", enabled)
		}
	}
}

func unzip(t *testing.T, path, folder string) {
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer z.Close()
	if err := os.CopyFS(folder, z); err != nil {
		t.Error(err)
	}
}

// TestLTTngNothing checks that a session without any process differs from one without
// collections, and that a provider which LTTng cannot record is refused.
func TestLTTngNothing(t *testing.T) {
	system := &lttng.System{Run: func(...string) ([]byte, error) { return nil, nil }, Runs: func(int) bool { return true }}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if notices, err := recordLTTng(ctx, t, system, nil, stop); !errors.Is(err, ErrNoTracer) {
		t.Errorf("%v, %+v", err, notices)
	}
	l := &LTTng{System: system, Options: &Options{Config: diag.Config{Providers: []diag.Provider{{Name: "System.Runtime"}}}}}
	if err := l.Run(ctx); !errors.Is(err, ErrNoTracepoints) {
		t.Error(err)
	}
}

// TestLTTngReal records a program with tracepoints of the runtime through the LTTng of
// this system, until the program exits.
func TestLTTngReal(t *testing.T) {
	system, err := lttng.Native()
	if err != nil {
		t.Skip("LTTng is not installed")
	}
	program := filepath.Join(t.TempDir(), "probe")
	if out, err := exec.Command("gcc", "-Itestdata", "-o", program, "testdata/probe.c", "-llttng-ust", "-ldl").CombinedOutput(); err != nil {
		t.Skipf("no C compiler with liblttng-ust-dev: %v %.200s", err, out)
	}
	hosttest.LTTng(t)

	const n = 100
	cmd := exec.Command(program, "100")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	system.Runs = func(int) bool {
		select {
		case <-exited:
			return false
		default:
			return true
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	notices, err := recordLTTng(ctx, t, system, []*diag.Process{{PID: cmd.Process.Pid, Name: "probe"}}, func() {
		_, _ = io.WriteString(in, "\n")
		go func() {
			_, _ = bufio.NewReader(out).ReadString('\n')
			in.Close()
			_ = cmd.Wait()
			close(exited)
		}()
	})
	if err != nil || ctx.Err() != nil || len(notices) != 2 {
		t.Fatalf("%v, %v, %+v", err, ctx.Err(), notices)
	}
	r := notices[1].(Ended)
	if len(r.Found) != 1 {
		t.Fatalf("%d processes have collections", len(r.Found))
	}
	all := r.Found[0].Summary.All()
	if r.Collections != n || all.Count != n || r.Trace.Loss().Events > 0 {
		t.Errorf("%d collections, lost %+v", r.Collections, r.Trace.Loss())
	}
	if shortest := all.Pause.Percentile(1); shortest < 500*time.Microsecond {
		t.Errorf("a pause of %v, want 500 µs or more", shortest)
	}
}
