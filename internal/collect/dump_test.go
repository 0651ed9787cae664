package collect

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/diag"
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

// TestFitsOne: one session serves runtimes that collect twice, as long as the buffer has
// room for the snapshot.
func TestFitsOne(t *testing.T) {
	for _, test := range []struct {
		version string
		heap    int64
		want    bool
	}{
		{"8.0.12", 10e6, true},
		{"9.0.1", 69e6, true},
		{"9.0.1", 70e6, false},
		{"10.0.9", 10e6, false},
		{"", 10e6, false},
	} {
		p := &diag.Process{Info: &diag.Info{RuntimeVersion: test.version}}
		if got := FitsOne(p, CostOf(test.heap), DumpBufferMB); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	if c := CostOf(84e6); c.Pause != 1260*time.Millisecond {
		t.Errorf("1.68 million objects pause for %v", c.Pause)
	}
}
