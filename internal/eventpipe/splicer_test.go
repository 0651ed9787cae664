package eventpipe_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// spliced returns the part of a trace from its event block n on, how many such
// blocks there are, and whether the part starts cleanly, and when.
func spliced(t *testing.T, whole []byte, n int, keep func(*trace.Descriptor) bool) (part []byte, blocks int, starts bool, at uint64) {
	t.Helper()
	r := eventpipe.NewObjectReader(bytes.NewReader(whole))
	s := eventpipe.Splicer{Keep: keep}
	var out bytes.Buffer
	for {
		o, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			break
		}
		if o.Events() {
			if blocks == n {
				starts, at = o.Starts(s.Latest()), o.First
				if err := s.Begin(&out, o); err != nil {
					t.Fatal(err)
				}
			}
			blocks++
		}
		if err := s.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	size, end := s.Whole()
	if size != int64(out.Len()) {
		t.Errorf("%d bytes, %d were written", size, out.Len())
	}
	return append(out.Bytes(), end...), blocks, starts, at
}

// A seen is an event as far as splicing must keep it.
type seen struct {
	desc    string
	when    int64 // Unix time, in nanoseconds
	tid     uint64
	payload string
	stack   string
}

func everything(t *testing.T, b []byte) (all []seen, r *nettrace.Reader) {
	t.Helper()
	r = nettrace.NewReader(bytes.NewReader(b), nettrace.Options{Stacks: true})
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen{
			fmt.Sprint(ev.Desc.Provider, ev.Desc.ID, ev.Desc.Version), r.Info().Start.Add(ev.Time()).UnixNano(), ev.TID,
			string(ev.Payload), fmt.Sprint(ev.AppendStack(nil)),
		})
	}
	if r.Loss().Damaged > 0 {
		t.Errorf("damage: %v", r.Loss())
	}
	return all, r
}

// TestSplice cuts the heads off real traces. If the rest starts cleanly, it equals the
// end of the whole, event for event with all stacks, and has no further loss. Wherever
// else it begins, it is still sound.
func TestSplice(t *testing.T) {
	names := []string{"net10-wks-web-collect", "net9-srv-datas-web-collect", "net10-killed-web", "net30-win-x64-survival", "net10-lossy-handles"}
	for _, name := range names[:extent.Pick(3, len(names), len(names))] {
		t.Run(name, func(t *testing.T) {
			whole := tracetest.Gunzip(t, "../../testdata/"+name+".nettrace.gz")
			all, full := everything(t, whole)
			_, blocks, _, _ := spliced(t, whole, 0, nil)
			clean := 0
			for n := 0; n < blocks; n += 1 + blocks/12 {
				part, _, starts, _ := spliced(t, whole, n, nil)
				got, r := everything(t, part)
				if len(got) == 0 || r.Info().Start.Before(full.Info().Start) || r.Info().Start.UnixNano() > got[0].when {
					t.Fatalf("block %d: %d events, start %v", n, len(got), r.Info().Start)
				}
				if r.Loss().Events > full.Loss().Events || r.Loss().Late > 0 || r.Loss().Truncated != (name == "net10-killed-web") {
					t.Errorf("block %d: %d of %d events lost, %d late, cut %t", n, r.Loss().Events, full.Loss().Events, r.Loss().Late, r.Loss().Truncated)
				}
				if !starts {
					continue
				}
				clean++
				if want := all[len(all)-len(got):]; !slices.Equal(got, want) {
					t.Errorf("block %d: %d events are not the last ones of the whole", n, len(got))
				}
			}
			if clean < 3 {
				t.Errorf("only %d clean cuts", clean)
			}
		})
	}
}

// TestSpliceKeep: events from before the cut that name the runtime are retained once, and
// not counted as lost or repeated.
func TestSpliceKeep(t *testing.T) {
	whole := tracetest.Gunzip(t, "../../testdata/net10-killed-web.nettrace.gz")
	first := func(b []byte) (runtime string, events int) {
		var m gc.Model
		r := nettrace.NewReader(bytes.NewReader(b), nettrace.Options{Want: gc.Identifies})
		for range m.Collections(r) {
			t.Error("no collections are read")
		}
		for d, n := range r.Counts() {
			if gc.Identifies(d) {
				events += int(n)
			}
		}
		if r.Loss().Events > 0 || len(m.Processes()) == 0 {
			return "", events
		}
		return m.Processes()[0].Runtime, events
	}
	want, events := first(whole)
	if want == "" || events != 1 {
		t.Fatalf("%q, %d events", want, events)
	}
	for n := range 20 {
		part, _, _, _ := spliced(t, whole, n, gc.Identifies)
		if got, events := first(part); got != want || events != 1 {
			t.Errorf("from block %d: %q, %d events", n, got, events)
		}
		// Splice the result again.
		again, _, _, _ := spliced(t, part, 3, gc.Identifies)
		if got, events := first(again); got != want || events != 1 {
			t.Errorf("from block %d, and again: %q, %d events", n, got, events)
		}
	}
}

// TestSpliceStart: the start moves to the first event by milliseconds, or by seconds if
// the clock has no whole number of ticks in a millisecond.
func TestSpliceStart(t *testing.T) {
	for _, tt := range []struct {
		freq, sync, at int64
		want           string
	}{
		{1_000_000_000, 500, 1_234_567_890, "01:00:01.234"},
		{10_000_000, 1_000_000, 12_345_678, "01:00:01.134"},
		{3_124_099, 0, 3_124_099*2 + 3_000_000, "01:00:02"},
		{1000, 5000, 4999, "01:00:00"},
	} {
		whole := tracetest.MustNettrace(t, fmt.Sprintf(`
nettrace v4 freq=%d sync=%d start=2025-01-02T01:00:00Z
metadata
  def id=1 provider=P event=1
events
  event meta=1 thread=7 time=%[2]d sorted
sp time=%[2]d 7=1
events
  event meta=1 thread=7 seq=2 time=%d sorted
sp time=%[3]d 7=2
end`, tt.freq, tt.sync, tt.at))
		before, _ := everything(t, whole)
		part, _, _, _ := spliced(t, whole, 1, nil)
		got, r := everything(t, part)
		if start := r.Info().Start.Format("15:04:05.999"); start != tt.want {
			t.Errorf("%d Hz: start %s, want %s", tt.freq, start, tt.want)
		}
		if len(got) != 1 || got[0] != before[1] || r.Loss().Events > 0 {
			t.Errorf("%d Hz: %v, want %v", tt.freq, got, before[1])
		}
	}
}

// TestSpliceRegions: stacks of the region that is cut into are retained, but neither
// older ones nor sequence points before the cut.
func TestSpliceRegions(t *testing.T) {
	whole := tracetest.MustNettrace(t, `
nettrace v4
metadata
  def id=1 provider=P event=1
stacks first=1 [0x10]
events
  event meta=1 thread=7 stack=1 time=+10 sorted
sp time=+20 7=1
stacks first=1 [0x20] [0x30]
events
  event meta=1 thread=7 seq=9 stack=1 time=+30 sorted
events
  event meta=1 thread=7 seq=10 stack=2 time=+40 sorted
events
  event meta=1 thread=8 seq=5 stack=1 time=+50 sorted
sp time=+60 7=10 8=5
end`)
	part, _, starts, _ := spliced(t, whole, 2, nil)
	got, r := everything(t, part)
	if !starts || len(got) != 2 || got[0].stack != "[48]" || got[1].stack != "[32]" || r.Loss().Events != 0 {
		t.Errorf("starts %t, %v, %d lost", starts, got, r.Loss().Events)
	}
}

// TestObjectReader: only V4 has objects, and an input may continue behind its end.
func TestObjectReader(t *testing.T) {
	for _, text := range []string{"netperf v3\nend", "nettrace v6\nend"} {
		_, err := eventpipe.NewObjectReader(bytes.NewReader(tracetest.MustNettrace(t, text))).Next()
		if !errors.Is(err, trace.ErrUnsupportedVersion) {
			t.Error(err)
		}
	}
	whole := tracetest.MustNettrace(t, "nettrace v4\nobject Other payload=u32:1\nevents\nsp time=+1\nend")
	var in bytes.Buffer
	r := eventpipe.NewObjectReader(&in)
	in.Write(whole[:32+3+8+4+5+1+48+1])
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	in.Write(whole[32+3+8+4+5+1+48+1:])
	objects := 0
	for {
		o, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		objects++
		if o.First != 0 || o.Starts(0) {
			t.Errorf("%+v", o)
		}
	}
	if objects != 2 {
		t.Errorf("%d objects, want the block and the sequence point", objects)
	}
}

// TestObjectTicks: clocks of any frequency, and times before the clock's beginning.
func TestObjectTicks(t *testing.T) {
	r := eventpipe.NewObjectReader(bytes.NewReader(tracetest.MustNettrace(t, "nettrace v4 freq=3124099 sync=5000000\nend")))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for d, want := range map[time.Duration]uint64{
		0: 5_000_000, time.Second: 8_124_099, -time.Second: 1_875_901, -2 * time.Second: 0,
		1500 * time.Millisecond: 5_000_000 + 4_686_148, math.MinInt64: 0,
	} {
		if got := r.Ticks(d); got != want {
			t.Errorf("%v: %d, want %d", d, got, want)
		}
	}
}

// FuzzSplice cuts the head off damaged traces, at any block: the rest is a trace.
func FuzzSplice(f *testing.F) {
	whole := tracetest.Gunzip(f, "../../testdata/net10-killed-web.nettrace.gz")
	f.Add(whole[:6000], uint8(1))
	f.Add(whole[:3000], uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		r := eventpipe.NewObjectReader(bytes.NewReader(b))
		s := eventpipe.Splicer{Keep: func(*trace.Descriptor) bool { return true }}
		var out bytes.Buffer
		for {
			o, err := r.Next()
			if err != nil {
				break
			}
			if o.Events() {
				if n == 0 {
					if s.Begin(&out, o) != nil {
						return
					}
				}
				n--
			}
			if s.Add(o) != nil {
				return
			}
		}
		if out.Len() == 0 {
			return
		}
		_, end := s.Whole()
		again := eventpipe.NewObjectReader(bytes.NewReader(append(out.Bytes(), end...)))
		for {
			if _, err := again.Next(); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				return
			}
		}
	})
}
