package diag

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
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
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	arrived, over := make(chan *Process, 10), make(chan struct{})
	go func() {
		defer close(over)
		f.arrivals(ctx, func(p *Process) { arrived <- p })
	}()
	for n := range 100 { // until the folder is watched
		stray := fmt.Sprintf("%s/dotnet-diagnostic-%d-%d-socket", f.folders[0], 1<<22+1, n)
		if err := os.WriteFile(stray, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
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
