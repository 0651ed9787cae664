package attack

import (
	"fmt"
	"iter"
	"os"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// recordings write events to files or folders as traces. Each event may have a process of
// its own.
var recordings = []struct {
	name   string
	record func(path string, events iter.Seq[*trace.Event]) error
}{
	{"nettrace", recordNettrace},
	{"etl", recordETL},
	{"ctf", recordCTF},
}

func recordNettrace(path string, events iter.Seq[*trace.Event]) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	w, err := nettrace.NewWriter(out, nettrace.WriterOptions{Start: time.Unix(0, 0), PID: 42, Version: 6})
	if err != nil {
		return err
	}
	for ev := range events {
		if err := w.Write(ev.TID, ev); err != nil {
			return err
		}
	}
	return w.Close()
}

// guids are the names that providers have in .etl files.
var guids = map[string]string{clr.RuntimeProvider: tracetest.RuntimeGUID, clr.PrivateProvider: tracetest.PrivateGUID}

func recordETL(path string, events iter.Seq[*trace.Event]) error {
	const room = 64<<10 - 0x48 // in a buffer, behind its header
	f := tracetest.NewETL()
	f.Header.BufferSize = 64 << 10
	var buffer *tracetest.ETLBuffer
	left := 0
	for ev := range events {
		e := etlEvent(f, ev)
		raw := e.Bytes()
		aligned := (len(raw) + 7) &^ 7
		if buffer == nil || left < aligned {
			buffer, left = f.Buffer(0), room
		}
		buffer.Raw(raw)
		buffer.Flushed = e.Time
		left -= aligned
		f.Header.End = f.Header.Start + (e.Time - f.Header.Time)
	}
	return os.WriteFile(path, f.Bytes(), 0o600)
}

// etlEvent returns an event as it is in a file.
func etlEvent(f *tracetest.ETLFile, ev *trace.Event) tracetest.ETLEvent {
	ticks := f.Header.Frequency / int64(time.Millisecond) // in a thousand nanoseconds
	return tracetest.ETLEvent{
		Type: tracetest.ETLEvent64, Time: f.Header.Time + ev.Ticks*ticks/1000, PID: uint32(ev.PID), TID: uint32(ev.TID),
		Provider: guids[ev.Desc.Provider], ID: uint16(ev.Desc.ID), Version: uint16(ev.Desc.Version), Level: ev.Desc.Level,
		Opcode: clr.KindOf(ev.Desc.Provider, ev.Desc.ID).Opcode(), Keywords: ev.Desc.Keywords, Payload: ev.Payload,
	}
}

var ctfOptions = ctf.WriterOptions{
	Start: time.Unix(0, 0), PID: 42, Process: "flood",
	Describe: func(d *trace.Descriptor) (ctf.EventClass, bool) {
		c, ok := clr.KindOf(d.Provider, d.ID).Tracepoint(d.Version, 8)
		return ctf.EventClass(c), ok
	},
}

func recordCTF(path string, events iter.Seq[*trace.Event]) error {
	w, err := ctf.CreateFolder(path, ctfOptions)
	if err != nil {
		return err
	}
	for ev := range events {
		if err := w.Write(ev); err != nil {
			return fmt.Errorf("event %d: %w", ev.Desc.ID, err)
		}
	}
	return w.Close()
}

// TestRecordings reads the same program from each format, with equal results.
func TestRecordings(t *testing.T) {
	const collections = 6
	for _, r := range recordings {
		path := t.TempDir() + "/trace"
		err := r.record(path, func(yield func(*trace.Event) bool) {
			for _, ev := range program(collections) {
				if !yield(ev) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		o := read(path, func() {})
		if o.panicked != "" || o.refused != nil || o.collections != collections || o.reportsLoss || !o.share.Known() {
			t.Errorf("%s: %+v", r.name, o)
		}
	}
}
