package eventpipe

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
)

// TestRecords encodes every record of the real traces again.
func TestRecords(t *testing.T) {
	traces, err := filepath.Glob("../../testdata/*.nettrace.gz")
	if err != nil || len(traces) == 0 {
		t.Fatal("no traces", err)
	}
	for _, path := range traces {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := NewFramer(bytes.NewReader(tracetest.Gunzip(t, path)), FileWindow)
			if err := f.Open(); err != nil {
				t.Fatal(err)
			}
			for {
				var b Block
				err := f.Next(&b)
				if errors.Is(err, io.EOF) || b.Kind == BlockEnd || b.Cut {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if b.Kind == BlockEvents || b.Kind == BlockMetadata {
					encodeAgain(t, &b)
				}
			}
		})
	}
}

// encodeAgain encodes the events of a block again and compares. In a metadata block it
// compares the records only, because .NET Core 3.0 gave their headers fields that did not
// change.
func encodeAgain(t *testing.T, b *Block) {
	t.Helper()
	in, err := ReadBlock(b.Data, b.Off, 4)
	if err != nil {
		t.Fatal(err)
	}
	var prev Header
	for start := in.off; in.Next(); start = in.off {
		h, payload := in.Header, in.Bytes()
		got, want := h.AppendCompressed(nil, &prev, false), b.Data[start:in.at]
		prev = h
		if b.Kind == BlockMetadata {
			id, d, err := ParseMetadataV4(payload, in.Pos())
			if err != nil {
				t.Fatal(err)
			}
			got, want = AppendMetadataV4(nil, id, d, d.Fields), payload
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%v, record at %#x: got %x, want %x", b.Kind, b.Off+int64(start), got, want)
		}
	}
}
