package collect

import (
	"context"
	"errors"
	"path/filepath"
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
		{"9.0.1", 1, gc.Some(CostOf(29e6)), true},
		{"9.0.1", 1, gc.Some(CostOf(30e6)), false},
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

// TestDumpSessions: a session without the keyword Type begins and ends, then one is read while
// another asks for the collection. Only the session that is read waits for room in the buffer,
// and only in runtimes that can.
func TestDumpSessions(t *testing.T) {
	for version, blocks := range map[string]bool{"10.0.1": false, "11.0.0": true} {
		t.Run(version, func(t *testing.T) {
			r := &snapshotRuntime{t: t}
			d := &Dump{Process: r.process(version), Output: filepath.Join(t.TempDir(), "web.nettrace"), Repeat: 1, Notify: func(Notice) {}}
			if r, err := d.Run(t.Context()); err != nil || r.Collections != 1 {
				t.Errorf("%+v, %v", r, err)
			}
			asked := r.sessions()
			if len(asked) != 3 {
				t.Fatalf("%d sessions", len(asked))
			}
			for i, want := range []struct {
				keywords uint64
				buffer   uint32
				block    bool
			}{{clr.KeywordGC, 1, false}, {snapshotKeywords, DumpBufferMB, blocks}, {clr.KeywordGCHeapCollect, 1, false}} {
				if c := asked[i]; c.Providers[0].Keywords != want.keywords || c.BufferMB != want.buffer || c.Block != want.block {
					t.Errorf("session %d: %+v", i+1, c)
				}
			}
		})
	}
}
