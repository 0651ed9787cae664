package diag

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestArrivals: a process arrives when its socket appears; other files are ignored.
func TestArrivals(t *testing.T) {
	st, found := readStat("/proc/self")
	if !found {
		t.Skip("no /proc")
	}
	info := append(fields{}.u32(1).u64(uint64(os.Getpid())), make([]byte, 16)...).str("/app/web").str("Linux").str("x64").str("web").str("10.0.12").str("linux-x64")
	f := newFinder()
	f.folders = []string{tempDir(t)}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	arrived, over := make(chan *Process, 10), make(chan struct{})
	go func() {
		defer close(over)
		f.arrivals(ctx, func(p *Process) { arrived <- p })
	}()
	dotnettest.Until(ctx, t, "the folder is watched", func() bool { return inotified(t, f.folders[0]) })
	for n := range maxArriving / 2 {
		stray := fmt.Sprintf("%s/dotnet-diagnostic-%d-%d-socket", f.folders[0], 1<<22+1, n)
		if err := os.WriteFile(stray, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := fmt.Sprintf("%s/dotnet-diagnostic-%d-%s-socket", f.folders[0], os.Getpid(), st.start)
	serveAt(t, path, newFake(t, func(cmd command, _ []byte) []byte {
		if cmd == cmdProcessInfo3 {
			return ok(info)
		}
		return refuse(UnknownCommand)
	}))
	select {
	case p := <-arrived:
		if p.PID != os.Getpid() || p.Name != "web" || p.Err != nil {
			t.Errorf("%+v", p)
		}
	case <-ctx.Done():
		t.Error("nothing has arrived")
	}
	cancel()
	<-over
	if len(arrived) > 0 {
		t.Errorf("%d more have arrived", len(arrived))
	}
}

// inotified reports whether the kernel watches a folder for this process.
func inotified(t *testing.T, folder string) bool {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(name string) bool {
		info, _ := os.ReadFile(name) // it may have been closed
		return strings.Contains(string(info), fmt.Sprintf(" ino:%x ", st.Ino))
	})
}
