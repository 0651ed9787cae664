package open_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// TestHeapDump: a .gcdump is unpacked for who asks for it, and refused otherwise; a trace is
// a trace for both.
func TestHeapDump(t *testing.T) {
	const path = "../testdata/net8-wks-rich.gcdump.gz"
	in, err := open.File(path, open.Options{HeapDumps: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	head := make([]byte, 24)
	if _, err := io.ReadFull(in.HeapDump, head); err != nil || !bytes.HasSuffix(head, []byte("!FastSerialization.1")) || in.Source != nil || in.Compression != "gzip" {
		t.Errorf("%q, %v", head, err)
	}
	if _, err := open.File(path, open.Options{}); !errors.Is(err, trace.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	in, err = open.File("../testdata/net10-wks-leak.nettrace.gz", open.Options{HeapDumps: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if in.Source == nil || in.HeapDump != nil {
		t.Error("a trace is taken for a heap dump")
	}
}
