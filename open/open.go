package open

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// Options configure a trace's Source. The zero value selects everything except stacks.
type Options struct {
	// Want is called once for each kind of event, and reports whether to emit its
	// events. Nil emits all.
	Want func(*trace.Descriptor) bool
	// Head is called once for each kind of event, and returns how many bytes of
	// its payloads are needed; see ctf.Options. Nil means whole payloads.
	Head func(*trace.Descriptor) int
	// Runs is called once for each kind of event, and reports whether its events may be
	// yielded together; see nettrace.Options and ctf.Options. Nil means none.
	Runs func(*trace.Descriptor) bool
	// Stacks makes events carry their stacks.
	Stacks bool
	// Scratch makes a place for input that must be unpacked or stored before it is read, such as
	// an .etl in a zip. Nil makes temporary files; Memory is for where none can be made.
	Scratch func() (Scratch, error)
	// Beside are files in the folder of what Contents opens. They are read where File would
	// read the files beside a trace: parts of an ETW trace, and perf maps.
	Beside []Content
	// HeapDumps accepts .gcdump files, which are no traces, but snapshots of a heap; see
	// Input.HeapDump. Files and Contents do so for a single file.
	HeapDumps bool
}

// An Input is an opened trace. It must be used by one goroutine, except for
// BytesRead.
type Input struct {
	// Source yields the events. It must not be used after Close.
	Source trace.Source
	// HeapDump is the content of a .gcdump file, which has no Source. It is nil for traces.
	HeapDump io.Reader
	// Name is the input's name as it was given.
	Name string
	// Size is the size of the file on disk, 0 if unknown.
	Size int64
	// Compression lists the wrappings of the trace, from the outside in, joined by plus
	// signs: "gzip", "zstd", "zip:NAME", "zip:NAME+gzip". It is empty if the trace is not
	// wrapped.
	Compression string
	// Companions are the files next to an ETW trace that are parts of it and read with
	// it: X.kernel.etl and X.clrRundown.etl of X.etl. Foreign lists files with such names
	// that are not read, because they belong to another recording, are a copy of X.etl or
	// likely to be merged into it, or are unreadable.
	Companions, Foreign []string
	// PerfMaps are the perf maps that PerfMap has opened.
	PerfMaps []string

	with    []string  // other files of the same ETW trace, as they were named
	content []Content // the same, of contents
	beside  []Content // files in the folder of the content
	parts   []*Input  // of several files on one time line
	meter   *meter
	again   func() (*Input, error) // nil if the input can be read only once
	file    io.Closer              // nil if it is the caller's, or has no name
	folder  bool                   // Name is one
	packed  map[string]string      // the entries of a zip by their names without folder; nil until needed
	peeler  peeler
}

// File opens the trace at path, or on standard input if path is "-". A folder
// must be an LTTng trace, or contain several that belong together or the files
// of one ETW trace. The error is the system's if the file cannot be read, and
// an *UnknownError if it is not a trace. Both name the path.
func File(path string, opts Options) (*Input, error) { return openFile(path, nil, opts) }

// openFile opens the trace at path, together with the files in with.
func openFile(path string, with []string, opts Options) (*Input, error) {
	if path == "-" {
		return Reader(os.Stdin, "standard input", opts)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if fi.IsDir() {
		f.Close()
		return folder(path, opts)
	}
	in := &Input{Name: path, with: with, meter: newMeter(f, nil), file: f}
	if fi.Mode().IsRegular() {
		in.Size = fi.Size()
		in.meter.at = f
		in.again = func() (*Input, error) { return openFile(path, with, opts) }
	}
	return in.open(opts)
}

// Reader opens the trace in r; errors call it name. It may read ahead of the
// trace's events. A zip or an ETW trace is first copied to Options.Scratch,
// which Close discards.
func Reader(r io.Reader, name string, opts Options) (*Input, error) {
	return (&Input{Name: name, meter: newMeter(r, nil)}).open(opts)
}

// Spooled opens the trace in r as a file of its own: a copy of at most limit bytes in
// Options.Scratch, which Close discards. With temporary files, memory does not depend on the
// size of the trace.
func Spooled(r io.Reader, name string, limit int64, opts Options) (*Input, error) {
	f, size, err := spool(opts.Scratch, r, limit, name)
	if err != nil {
		return nil, err
	}
	in := &Input{Name: name, Size: size, meter: newMeter(io.NewSectionReader(f, 0, size), f)}
	in.peeler.closers = append(in.peeler.closers, f.Close)
	return in.open(opts)
}

// BytesRead returns the number of bytes of the file read so far, at most Size
// if that is known. It may be called from any goroutine.
func (in *Input) BytesRead() int64 {
	if in.parts != nil {
		var sum int64
		for _, part := range in.parts {
			sum += part.BytesRead()
		}
		return sum
	}
	n := in.meter.n.Load()
	if in.Size > 0 {
		return min(n, in.Size)
	}
	return n
}

// Reopen opens the same file again, from its start. The error wraps ErrOnce if
// the input is standard input, a pipe or a caller's reader.
func (in *Input) Reopen() (*Input, error) {
	if in.again == nil {
		return nil, fmt.Errorf("%s %w", in.Name, ErrOnce)
	}
	return in.again()
}

// Close releases the file and the resources for reading it.
func (in *Input) Close() error {
	err := in.peeler.close()
	for _, part := range in.parts {
		err = errors.Join(err, part.Close())
	}
	if in.file == nil {
		return err
	}
	return errors.Join(err, in.file.Close())
}

func (in *Input) open(opts Options) (*Input, error) {
	if err := in.unwrap(opts); err != nil {
		in.Close()
		return nil, named(in.Name, err)
	}
	return in, nil
}

// unwrap finds the trace in the input, and sets its Source, or HeapDump.
func (in *Input) unwrap(opts Options) error {
	in.peeler.meter, in.peeler.scratch = in.meter, opts.Scratch
	l := layer{Reader: in.meter}
	if in.meter.at != nil {
		l.at, l.size = in.meter, in.Size
	}
	f, err := in.peeler.peel(l, 0)
	if err != nil {
		return err
	}
	in.Compression = f.wrapping
	if f.kind.class == heapDump && opts.HeapDumps {
		in.HeapDump = f.r
		return nil
	}
	err = f.refusal(in.Name)
	if err == nil && f.kind.class == etw && f.wrapping == "" {
		err = in.companions(&f)
	}
	if err == nil {
		in.Source, err = in.peeler.source(&f, opts)
	}
	return err
}

// source returns the reader for f.
func (p *peeler) source(f *found, opts Options) (trace.Source, error) {
	switch f.kind.class {
	case eventPipe:
		r := nettrace.NewReader(f.r, nettrace.Options{
			Want: opts.Want, Complete: complete, Runs: opts.Runs, Stacks: opts.Stacks,
			// On one processor it would be slower, and what is not a file may
			// make wait.
			Ahead: p.meter.at != nil && runtime.GOMAXPROCS(0) > 1,
		})
		if f.packed == nil {
			return r, nil
		}
		return &packed{r, f.rest}, nil
	case lttng:
		return openCTF(f.fsys, opts)
	}
	files, damage, err := p.files(f)
	if err != nil {
		return nil, err
	}
	r := etl.NewMergedReader(files, etl.Options{Want: opts.Want, Stacks: opts.Stacks})
	if damage == nil {
		return r, nil
	}
	return &packed{r, func() []trace.Damage { return damage }}, nil
}

// complete fills in missing properties of one of the runtime's events.
func complete(d *trace.Descriptor) {
	k := clr.KindOf(d.Provider, d.ID)
	d.Opcode = cmp.Or(d.Opcode, k.Opcode())
	d.Level = cmp.Or(d.Level, k.Level())
	d.Keywords = cmp.Or(d.Keywords, k.Keywords())
}
