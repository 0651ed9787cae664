package collect

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
)

// TestSilence: a snapshot may take long as long as something comes, and is given up after
// a minute in which nothing does.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(capture)
		ctx, giveUp := context.WithCancelCause(t.Context())
		began := time.Now()
		go c.watchSilence(ctx, giveUp)
		for range 10 {
			time.Sleep(50 * time.Second)
			c.received.Add(1)
		}
		<-ctx.Done()
		if took := time.Since(began); !errors.Is(context.Cause(ctx), ErrSilent) || took < 560*time.Second || took > 565*time.Second {
			t.Errorf("%v after %v", context.Cause(ctx), took)
		}
	})
}

// TestSingle: one session serves runtimes that collect twice, as long as half of the
// buffer has room for the only snapshot.
func TestSingle(t *testing.T) {
	for _, test := range []struct {
		version string
		repeat  int
		cost    gc.Opt[DumpCost]
		want    bool
	}{
		{"8.0.12", 1, gc.Some(CostOf(10e6)), true},
		{"9.0.1", 1, gc.Some(CostOf(69e6)), true},
		{"9.0.1", 1, gc.Some(CostOf(70e6)), false},
		{"9.0.1", 2, gc.Some(CostOf(10e6)), false},
		{"9.0.1", 1, gc.Opt[DumpCost]{}, false},
		{"10.0.9", 1, gc.Some(CostOf(10e6)), false},
		{"", 1, gc.Some(CostOf(10e6)), false},
	} {
		d := &Dump{Process: &diag.Process{Info: &diag.Info{RuntimeVersion: test.version}}, BufferMB: DumpBufferMB, Repeat: test.repeat}
		if got := d.single(test.cost); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	if c := CostOf(84e6); c.Pause != 1260*time.Millisecond {
		t.Errorf("1.68 million objects pause for %v", c.Pause)
	}
}

// A recordedTrace is a session that sends a trace and is asked to stop.
type recordedTrace struct {
	trace []byte
	stop  chan struct{}
	once  sync.Once
}

func (r *recordedTrace) Run(w io.Writer) error {
	_, err := w.Write(r.trace)
	<-r.stop
	return err
}

func (r *recordedTrace) Stop() { r.once.Do(func() { close(r.stop) }) }

// TestDumpSessions: a session without the keyword Type begins and ends, then one is read while
// another asks for the collection. Only the session that is read waits for room in the buffer,
// and only in runtimes that can.
func TestDumpSessions(t *testing.T) {
	for version, blocks := range map[string]bool{"10.0.1": false, "11.0.0": true} {
		var mu sync.Mutex
		var asked []diag.Config
		server, err := diag.Serve(diag.ServerOptions{Folder: t.TempDir(), Collect: func(c diag.Config) (diag.Tracing, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, c)
			return &recordedTrace{trace: webBytes(t), stop: make(chan struct{})}, nil
		}})
		if err != nil {
			t.Skip(err)
		}
		process := &diag.Process{Name: "web", Address: server.Address(), Info: &diag.Info{RuntimeVersion: version}}
		d := &Dump{Process: process, Output: filepath.Join(t.TempDir(), "web.nettrace"), BufferMB: 8, Repeat: 1, Notify: func(Notice) {}}
		if r, err := d.Run(t.Context()); err != nil || r.Collections == 0 {
			t.Errorf("%s: %+v, %v", version, r, err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if len(asked) != 3 {
			t.Fatalf("%s: %d sessions", version, len(asked))
		}
		for i, want := range []struct {
			keywords uint64
			block    bool
		}{{clr.KeywordGC, false}, {snapshotKeywords, blocks}, {clr.KeywordGCHeapCollect, false}} {
			if c := asked[i]; c.Providers[0].Keywords != want.keywords || c.Block != want.block {
				t.Errorf("%s: session %d: %+v", version, i+1, c)
			}
		}
	}
}
