package eventpipe

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// FuzzCompressed compares the fast and the checked way to read compressed headers: both
// must find the same events and the same error.
func FuzzCompressed(f *testing.F) {
	in := NewFramer(bytes.NewReader(tracetest.Gunzip(f, "../../testdata/net10-killed-web.nettrace.gz")), FileWindow)
	if err := in.Open(); err != nil {
		f.Fatal(err)
	}
	for b := new(Block); in.Next(b) == nil && b.Kind != BlockEnd; {
		if b.Kind == BlockEvents {
			f.Add(bytes.Clone(b.Data), false)
		}
	}
	head := make([]byte, EventBlockHeader)
	PutBlockHeader(head, true, 0, 0)
	f.Add(append(head, 0xff, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b), true)
	f.Fuzz(func(t *testing.T, data []byte, v6 bool) {
		version := 4
		if v6 {
			version = 6
		}
		fast, err := ReadBlock(data, 0, version)
		if err != nil || !fast.Compressed {
			return
		}
		checked := fast
		for n := 0; ; n++ {
			more := fast.Next()
			if wants := checked.off < len(checked.data) && checked.nextChecked(); more != wants {
				t.Fatalf("event %d: %t, want %t", n, more, wants)
			}
			if !more {
				break
			}
			if fast.Header != checked.Header || fast.off != checked.off || fast.at != checked.at {
				t.Fatalf("event %d:\n%+v at %d, %d, want\n%+v at %d, %d", n, fast.Header, fast.at, fast.off, checked.Header, checked.at, checked.off)
			}
		}
		if (fast.Err == nil) != (checked.Err == nil) || fast.Err != nil && fast.Err.Error() != checked.Err.Error() {
			t.Fatalf("%v, want %v", fast.Err, errors.Unwrap(checked.Err))
		}
	})
}
