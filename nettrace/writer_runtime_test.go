package nettrace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"testing"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestWriterHead writes the first two batches of a real trace again, and expects the
// runtime's bytes.
func TestWriterHead(t *testing.T) {
	const (
		firstBatch = 6   // events
		secondEnd  = 803 // where the second batch, of one event, ends in the file
	)
	want := tracetest.Gunzip(t, "../testdata/net10-wks-induced-collect.nettrace.gz")[:secondEnd]
	r := NewReader(bytes.NewReader(want), Options{Stacks: true})
	var got bytes.Buffer
	var w *Writer
	n := 0
	for ev, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if w == nil {
			info := r.Info()
			w = newWriter(t, &got, WriterOptions{
				Start: info.Start, SyncTicks: int64(r.sync), PID: info.PID, CPUs: info.CPUs,
			})
		}
		if err := w.Write(ev.TID, ev); err != nil {
			t.Fatal(err)
		}
		if n++; n >= firstBatch {
			w.Flush()
		}
	}
	// The runtime writes definitions under the thread that writes the file, which a
	// Writer does not know.
	want = bytes.Replace(want, binary.AppendUvarint(nil, 3842), binary.AppendUvarint(nil, 3835), 1)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d events, got\n%swant\n%s", n, hex.Dump(got.Bytes()), hex.Dump(want))
	}
}

func newWriter(t testing.TB, out io.Writer, opt WriterOptions) *Writer {
	t.Helper()
	w, err := NewWriter(out, opt)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWriterCopies writes the events of a real trace in both formats, and reads them
// back.
func TestWriterCopies(t *testing.T) {
	want, r := readAll(t, tracetest.Gunzip(t, "../testdata/net10-wks-induced-collect.nettrace.gz"))
	info := r.Info()
	for _, version := range []int{4, 6} {
		var out bytes.Buffer
		w := newWriter(t, &out, WriterOptions{
			Version: version, Start: info.Start, SyncTicks: int64(r.sync), PID: info.PID, CPUs: info.CPUs,
		})
		for _, ev := range want {
			write(t, w, ev.TID, ev)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, r := readAll(t, out.Bytes())
		if len(got) != len(want) || r.Loss().Events != 0 || r.Loss().Exactness != trace.Exact {
			t.Fatalf("V%d: %d events of %d, %+v", version, len(got), len(want), r.Loss())
		}
		for i := range got {
			if d := difference(got[i], want[i]); d != "" {
				t.Fatalf("V%d: event %d: %s: got %+v, want %+v", version, i, d, got[i], want[i])
			}
		}
	}
}
