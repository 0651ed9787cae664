package convert_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// asETL returns the runtime's events of a trace as an .etl, in buffers with room for the
// largest.
func asETL(t *testing.T, path string) []byte {
	t.Helper()
	in, err := open.Files([]string{path}, open.Options{Want: func(d *trace.Descriptor) bool {
		return clr.KindOf(d.Provider, d.ID) != clr.KindUnknown
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	providers := map[string]string{clr.RuntimeProvider: tracetest.RuntimeGUID, clr.RundownProvider: tracetest.RundownGUID}
	const size = 256 << 10
	f := tracetest.NewETL()
	f.Header.BufferSize, f.Header.Frequency, f.Header.Time = size, 1e9, 0
	buffer := f.Buffer(0)
	for ev, err := range in.Source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		provider := providers[ev.Desc.Provider]
		if provider == "" {
			continue
		}
		if buffer.Used()+len(ev.Payload) > size-1<<10 {
			buffer = f.Buffer(0)
		}
		buffer.Event(tracetest.ETLEvent{
			Type: tracetest.ETLEvent64, Time: int64(ev.Time()), PID: uint32(ev.PID), TID: uint32(ev.TID), Provider: provider,
			ID: uint16(ev.Desc.ID), Version: uint16(ev.Desc.Version), Level: ev.Desc.Level, Keywords: ev.Desc.Keywords, Payload: ev.Payload,
		})
	}
	return f.Bytes()
}

// TestETLHeap: an .etl and a .nettrace with the same events make the same files of heap
// snapshots.
func TestETLHeap(t *testing.T) {
	const source = "../../testdata/net10-wks-leak.nettrace.gz"
	path := filepath.Join(t.TempDir(), "leak.etl")
	if err := os.WriteFile(path, asETL(t, source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"gcdump", "heapsnapshot", "collapsed"} {
		want := converted(t, source, format)
		got, err := convertTo(t, path, format, new(selection.Selection))
		if err != nil || len(want) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %d bytes, want %d", format, err, len(got), len(want))
		}
	}
	c := convert.New(convert.Named("perfetto"), new(selection.Selection), false)
	in, err := open.Files([]string{path}, open.Options{Want: c.Wants()})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := c.Write(input{in.Source}, []io.Writer{new(bytes.Buffer)}); err != nil || c.Snapshots != 3 {
		t.Errorf("%v, %d snapshots", err, c.Snapshots)
	}
}
