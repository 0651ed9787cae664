package etl_test

import (
	"bytes"
	"testing"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// FuzzReader reads anything. It must end, yield an error last if at all, and count the
// emitted events; neither Want nor Stacks may change the rest.
func FuzzReader(f *testing.F) {
	small := tracetest.NewETL()
	small.Header.BufferSize = 0x200
	small.Buffer(1).Event(at(1, 1)).Event(walk(2, 1, 2))
	small.Buffer(0).Compress().Event(at(3, 2, make([]byte, 100)...))
	f.Add(small.Bytes())
	f.Add(packed(f)[:8192])
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(opts etl.Options) (r *etl.Reader, events uint64, failed bool) {
			r = etl.NewReader(bytes.NewReader(data), int64(len(data)), opts)
			for ev, err := range r.Events() {
				if failed {
					t.Fatal("something follows an error")
				}
				if err != nil {
					failed = true
					continue
				}
				events++
				if len(ev.AppendStack(nil)) != ev.StackLen() {
					t.Fatal("the stack is not as long as it says")
				}
				_ = ev.Time()
			}
			return r, events, failed
		}
		r, events, failed := read(etl.Options{})
		var counted uint64
		for _, n := range r.Counts() {
			counted += n
		}
		if events != counted {
			t.Fatalf("%d events handed out, %d counted", events, counted)
		}
		for _, opts := range []etl.Options{{Stacks: true}, {Want: func(*trace.Descriptor) bool { return false }, Stacks: true}} {
			again, n, _ := read(opts)
			if opts.Want == nil && n != events || opts.Want != nil && n > 0 && !failed {
				t.Fatalf("%d events, %d before", n, events)
			}
			if a, b := r.Loss(), again.Loss(); a.Events != b.Events || a.Truncated != b.Truncated || a.Damaged != b.Damaged {
				t.Fatalf("loss depends on what is wanted: %+v, %+v", a, b)
			}
		}
	})
}
