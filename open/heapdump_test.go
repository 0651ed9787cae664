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

// TestHeapDumpAmongTraces: events are merged, which a .gcdump has none of, so that it is refused
// beside a trace even by who asks for it.
func TestHeapDumpAmongTraces(t *testing.T) {
	paths := []string{"../testdata/net8-wks-rich.gcdump.gz", "../testdata/net10-wks-leak.nettrace.gz"}
	opts := open.Options{HeapDumps: true}
	if _, err := open.Files(paths, opts); !errors.Is(err, trace.ErrUnsupported) {
		t.Errorf("files: %v", err)
	}
	dump := contentOf(t, paths[0])
	if _, err := open.Contents([]open.Content{dump, contentOf(t, paths[1])}, opts); !errors.Is(err, trace.ErrUnsupported) {
		t.Errorf("contents: %v", err)
	}
	for name, in := range map[string]func() (*open.Input, error){
		"file":    func() (*open.Input, error) { return open.Files(paths[:1], opts) },
		"content": func() (*open.Input, error) { return open.Contents([]open.Content{dump}, opts) },
	} {
		alone, err := in()
		if err != nil {
			t.Fatal(err)
		}
		if alone.HeapDump == nil {
			t.Errorf("%s: no heap dump", name)
		}
		if err := alone.Close(); err != nil {
			t.Error(err)
		}
	}
}
