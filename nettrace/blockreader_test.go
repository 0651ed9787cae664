package nettrace

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gctrail/gctrail/internal/nettracetest"
)

// FuzzCompressed reads a block in both ways that there are for compressed headers:
// the fast one must find the events that the checked one finds, and its error.
func FuzzCompressed(f *testing.F) {
	in := NewObjectReader(bytes.NewReader(nettracetest.Gunzip(f, "../testdata/net10-killed-web.nettrace.gz")))
	for o, err := in.Next(); err == nil; o, err = in.Next() {
		if o.Events() {
			f.Add(o.data, false)
		}
	}
	f.Add(append(eventHead(0), 0xff, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b), true)
	f.Fuzz(func(t *testing.T, data []byte, v6 bool) {
		version := 4
		if v6 {
			version = 6
		}
		fast, err := readBlock(data, 0, version)
		if err != nil || !fast.compressed {
			return
		}
		checked := fast
		for n := 0; ; n++ {
			more := fast.next()
			if wants := checked.off < len(checked.data) && checked.nextChecked(); more != wants {
				t.Fatalf("event %d: %t, want %t", n, more, wants)
			}
			if !more {
				break
			}
			if fast.header != checked.header || fast.off != checked.off || fast.at != checked.at {
				t.Fatalf("event %d:\n%+v at %d, %d, want\n%+v at %d, %d", n, fast.header, fast.at, fast.off, checked.header, checked.at, checked.off)
			}
		}
		if (fast.err == nil) != (checked.err == nil) || fast.err != nil && fast.err.Error() != checked.err.Error() {
			t.Fatalf("%v, want %v", fast.err, errors.Unwrap(checked.err))
		}
	})
}
