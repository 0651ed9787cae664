package dotnettest_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/internal/dotnettest"
)

// TestPoll: polling notices soon that the condition holds, and ends with its context. It looks
// less often at what takes long to look at.
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		held := dotnettest.Poll(t.Context(), func() bool {
			looks++
			return time.Since(began) >= time.Second
		})
		if took := time.Since(began); !held || took > 1020*time.Millisecond || looks > 60 {
			t.Errorf("held: %t, after %v and %d looks", held, took, looks)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		began, looks = time.Now(), 0
		held = dotnettest.Poll(ctx, func() bool {
			looks++
			<-time.After(time.Second)
			return false
		})
		if took := time.Since(began); held || took != 59*time.Second || looks != 20 {
			t.Errorf("held: %t, after %v and %d looks", held, took, looks)
		}
	})
}

// TestOutput: output is awaited without a look between writes, and no longer than the context.
func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out dotnettest.Output
		go func() {
			slow := dotnettest.SlowWriter{W: &out, Pause: time.Minute}
			for range 10 {
				_, _ = io.WriteString(slow, "x")
			}
		}()
		looks := 0
		began := time.Now()
		came := out.Await(t.Context(), func(text string) bool {
			looks++
			return text == "xxx"
		})
		if took := time.Since(began); !came || took != 3*time.Minute || looks != 4 {
			t.Errorf("came: %t, after %v and %d looks", came, took, looks)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if out.Await(ctx, func(text string) bool { return text == "y" }) || out.String() != "xxxxxxxxxx" {
			t.Errorf("never came, and the text is %q", out.String())
		}
	})
}
