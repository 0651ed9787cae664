package eventpipe_test

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

func isRundown(d *trace.Descriptor) bool {
	return d.Provider == "Microsoft-Windows-DotNETRuntimeRundown"
}

// limited returns the first part of a trace.
func limited(t *testing.T, whole []byte, length time.Duration) []byte {
	t.Helper()
	l := eventpipe.NewLimiter(iotest.HalfReader(bytes.NewReader(whole)), length)
	l.Keep = isRundown
	out, err := io.ReadAll(l)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lossOf returns the loss of a trace, and its length.
func lossOf(t *testing.T, data []byte) (*trace.Loss, time.Duration) {
	t.Helper()
	r := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{})
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
	}
	return r.Loss(), r.Info().Last
}

// TestLimiter shortens traces of runtimes: the events up to the limit are the same, the
// rundown's events remain, and nothing counts as lost.
func TestLimiter(t *testing.T) {
	for _, name := range []string{"net10-wks-web-collect.nettrace.gz", "net10-wks-stacks.nettrace.gz", "net8-srv-background.nettrace.gz"} {
		whole := tracetest.Gunzip(t, "../../testdata/"+name)
		want, r := everything(t, whole)
		start, last := r.Info().Start, r.Info().Last
		if out := limited(t, whole, last); !bytes.Equal(out, whole) {
			t.Errorf("%s: %d bytes of %d up to the last event", name, len(out), len(whole))
		}
		for _, length := range []time.Duration{0, last / 7, last / 2, last * 9 / 10} {
			end := start.Add(length).UnixNano()
			got, r := everything(t, limited(t, whole, length))
			if l := r.Loss(); l.Events > 0 || l.Damaged > 0 || l.Late > 0 || l.Truncated {
				t.Errorf("%s to %v: %+v", name, length, l)
			}
			if r.Info().Last > length {
				t.Errorf("%s to %v: ends at %v", name, length, r.Info().Last)
			}
			i := 0
			for _, e := range want {
				rundown := e.when > end && bytes.Contains([]byte(e.desc), []byte("Rundown"))
				if e.when > end && !rundown {
					continue
				}
				if i == len(got) {
					t.Fatalf("%s to %v: %d events, and none for %+v", name, length, len(got), e)
				}
				g := got[i]
				if rundown {
					e.when, g.when = 0, min(0, end-g.when)
				}
				if g != e {
					t.Fatalf("%s to %v: event %d is %+v, want %+v", name, length, i, g, e)
				}
				i++
			}
			if i < len(got) {
				t.Errorf("%s to %v: %d events, want %d", name, length, len(got), i)
			}
		}
	}
}

// TestLimiterLoss checks that events lost by the runtime before the end still count as
// lost.
func TestLimiterLoss(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-lossy-handles.nettrace.gz")
	loss, last := lossOf(t, whole)
	if loss.Events == 0 {
		t.Fatal("the trace has lost nothing")
	}
	before := uint64(0)
	for _, length := range []time.Duration{last / 4, last / 2, last * 3 / 4, last} {
		l, _ := lossOf(t, limited(t, whole, length))
		if l.Events > loss.Events || l.Events < before || l.Damaged != loss.Damaged {
			t.Errorf("to %v: %d events lost, %d damaged, after %d and before %d", length, l.Events, l.Damaged, before, loss.Events)
		}
		before = l.Events
	}
	if before != loss.Events {
		t.Errorf("%d events lost, want %d", before, loss.Events)
	}
}

// TestLimiterPasses checks that input other than a V4 trace comes out unchanged.
func TestLimiterPasses(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-wks-web-collect.nettrace.gz")
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("this is no trace, but quite long for a head"), "V6": []byte("Nettrace\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"),
		"head": whole[:20], "cut": whole[:len(whole)/3],
	} {
		if out := limited(t, data, time.Hour); !bytes.Equal(out, data) {
			t.Errorf("%s: %d bytes of %d", name, len(out), len(data))
		}
	}
}
