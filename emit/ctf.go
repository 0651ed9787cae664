package emit

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/program"
	"github.com/gctrail/gctrail/trace"
)

// CreateCTF starts a session that writes an LTTng trace: a zip in perfcollect's
// layout if the name ends in .zip, which replaces an existing one at the end; otherwise a
// folder, which must be empty or not exist. SessionOptions.Version has no
// effect.
//
// The trace has no ProcessInfo, which is not one of LTTng's events; the process
// is in the metadata and the contexts of events. Custom events are included if
// C allows the names of their fields.
func (p *Provider) CreateCTF(name string, opt SessionOptions) (*Session, error) {
	var file *outfile.File
	start := func(w *ctf.Writer, err error) (sink, error) { return ctfSink{w}, err }
	open := func(now time.Time, ticks int64) (sink, error) {
		return start(ctf.CreateFolder(name, p.ctfOptions(now, ticks)))
	}
	if zip, ok := strings.CutSuffix(name, ".zip"); ok {
		var err error
		if file, err = outfile.CreateAny(name, fileMode); err != nil {
			return nil, err
		}
		trace := strings.TrimSuffix(filepath.Base(zip), ".trace")
		open = func(now time.Time, ticks int64) (sink, error) {
			return start(ctf.NewZipWriter(file, trace, p.ctfOptions(now, ticks)))
		}
	}
	return p.startSession(file, opt, open)
}

func (p *Provider) ctfOptions(start time.Time, ticks int64) ctf.WriterOptions {
	host, _ := os.Hostname() // it may be unknown
	return ctf.WriterOptions{
		Start: start, SyncTicks: ticks, PointerSize: pointerSize, PID: uint64(p.process.PID),
		Process: program.Name(p.process.CommandLine), Host: host, Describe: ctfClass,
	}
}

// ctfClass returns the tracepoint of an event of the runtime, or a class made from a
// custom event.
func ctfClass(d *trace.Descriptor) (ctf.EventClass, bool) {
	if k := clr.KindOf(d.Provider, d.ID); k != clr.KindUnknown {
		c, ok := k.Tracepoint(d.Version, pointerSize)
		return ctf.EventClass(c), ok
	}
	c := ctf.EventClass{Name: d.Provider + ":" + d.Name, Fields: d.Fields}
	return c, c.Check() == nil
}

// A ctfSink writes a trace in the Common Trace Format, with one stream for the events of
// all shards.
type ctfSink struct{ *ctf.Writer }

func (ctfSink) carries(d *trace.Descriptor) bool {
	_, ok := ctfClass(d)
	return ok
}

func (s ctfSink) Write(_ uint64, ev *trace.Event) error { return s.Writer.Write(ev) }
func (s ctfSink) Lost(_ uint64, n uint32)               { s.Writer.Lost(n) }
