package nettrace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// FuzzReader reads anything: it must end, keep within the input, yield an error last if
// at all, and count the emitted events.
func FuzzReader(f *testing.F) {
	f.Add(tracetest.Gunzip(f, "../testdata/net10-killed-web.nettrace.gz")[:4096])
	f.Add(tracetest.Gunzip(f, "../testdata/net21-win-x86-objver3.netperf.gz")[:4096])
	texts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(texts) == 0 {
		f.Fatalf("no assembled traces: %v", err)
	}
	for _, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		text, _, _ = bytes.Cut(text, []byte("\n-- want --\n"))
		f.Add(tracetest.MustNettrace(f, string(text)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Stacks: true})
		var payloads, events, counted uint64
		var failed bool
		for ev, err := range r.Events() {
			if failed {
				t.Fatal("something follows an error")
			}
			if err != nil {
				failed = true
				continue
			}
			events++
			payloads += uint64(len(ev.Payload))
			if len(ev.AppendStack(nil)) != ev.StackLen() {
				t.Fatal("the stack is not as long as it says")
			}
			_ = ev.Time()
		}
		for _, n := range r.Counts() {
			counted += n
		}
		if events != counted {
			t.Fatalf("%d events handed out, %d counted", events, counted)
		}
		if payloads > uint64(len(data)) {
			t.Fatalf("%d bytes of payloads in %d bytes", payloads, len(data))
		}
		again := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Want: func(*trace.Descriptor) bool { return false }})
		for range again.Events() {
			if !failed {
				t.Fatal("an unwanted event")
			}
		}
		if a, b := r.Loss(), again.Loss(); a.Events != b.Events || a.Truncated != b.Truncated {
			t.Fatalf("loss depends on what is wanted: %+v, %+v", a, b)
		}
	})
}
