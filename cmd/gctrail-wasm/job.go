package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/pass"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

const (
	// maxUnpacked is how much memory an .etl in a zip, or a redacted trace, may take compressed
	// while it is read. A browser gives a page 4 GiB at most.
	maxUnpacked = 512 << 20
	// maxOutput bounds a page or an export, because the browser holds it a second time.
	maxOutput = 512 << 20
)

// A job is work on some files, which are one trace, or several on one time line. It reads
// them in memory alone.
type job struct {
	program string // that does the work, with its version
	files   []open.Content
	beside  []open.Content    // in the folder of the files: parts of ETW traces, and perf maps
	redact  convert.Redaction // removes what identifies the program
	// progress, if it is not nil, is called repeatedly with the number of bytes read, the size of
	// all files, and the number of collections found.
	progress func(read, size, collections int64)

	selected    selection.Selection
	collections atomic.Int64
}

// A reading is a trace, or a heap snapshot, that is read.
type reading struct {
	*report.Reading
	selected *selection.Selection // the job's, by ids
	copied   open.Scratch         // the redacted copy that is read; nil for the files themselves
}

func (r *reading) Close() {
	r.Reading.Close()
	if r.copied != nil {
		r.copied.Close()
	}
}

// read opens the trace; with redact, a redacted copy of it.
func (j *job) read(ctx context.Context, opts open.Options) (*reading, error) {
	scratch := open.Memory(maxUnpacked)
	selected, err := j.narrow(ctx)
	if err != nil {
		return nil, err
	}
	if !j.redact.On {
		opts.Beside = j.beside
		r, err := j.open(ctx, j.files, opts, scratch)
		return &reading{Reading: r, selected: selected}, err
	}
	original := opts
	original.Head, original.Runs = nil, nil // events are copied whole, one by one
	original.Beside = j.beside              // without the names of perf maps, which events do not have
	original.Want = func(d *trace.Descriptor) bool { return convert.Wants(d) || opts.Want == nil || opts.Want(d) }
	from, err := j.open(ctx, j.files, original, scratch)
	if err != nil || from.In.HeapDump != nil {
		return &reading{Reading: from, selected: selected}, err
	}
	defer from.Close()
	redactor, lost, err := j.learn(ctx, from)
	if err != nil {
		return nil, err
	}
	copied, err := scratch()
	if err != nil {
		return nil, err
	}
	to := &counted{Scratch: copied}
	_, err = convert.Events(from, to, convert.EventOptions{Selected: new(selection.Selection), Redact: redactor, Lost: lost})
	if err != nil && !errors.Is(err, convert.ErrNothing) { // which is said when the copy is read
		return nil, errors.Join(err, copied.Close())
	}
	name := redactor.Name(from.Name())
	r, err := j.open(ctx, []open.Content{{ReaderAt: copied, Size: to.n, Name: name}}, opts, scratch)
	return &reading{r, selected, copied}, err
}

// A counted is a scratch that counts the bytes written to it.
type counted struct {
	open.Scratch
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Scratch.Write(p)
	c.n += int64(n)
	return n, err
}

// learn returns a Redactor that has read the trace ahead, and the trace's loss.
func (j *job) learn(ctx context.Context, r *report.Reading) (*convert.Redactor, *trace.Loss, error) {
	redactor := j.redact.Next()
	src, err := r.Again(nil)
	if err != nil {
		return nil, nil, err
	}
	err = pass.Run(ctx, src, pass.Raw(nil, redactor.Learn))
	return redactor, src.Loss(), err
}

// open opens files as one trace.
func (j *job) open(ctx context.Context, files []open.Content, opts open.Options, scratch func() (open.Scratch, error)) (*report.Reading, error) {
	metered := j.meter(files)
	opts.Scratch = scratch
	in, err := open.Contents(metered, opts)
	if err != nil {
		return nil, err
	}
	names := text.Each(files, func(f *open.Content) string { return f.Name })
	r := report.NewReading(ctx, in, in.Name, names)
	r.Open = func(o open.Options) (*open.Input, error) {
		o.Scratch, o.Beside = scratch, opts.Beside
		return open.Contents(metered, o)
	}
	r.Count = func(*gc.Collection) { j.collections.Add(1) }
	return r, nil
}

// An output is a file in memory.
type output struct{ bytes.Buffer }

// written returns the content of a page.
func written(page *report.Page) ([]byte, error) {
	var out output
	err := page.Write(&out)
	return out.Bytes(), err
}

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("the result takes more than %d MiB: use gctrail itself", maxOutput>>20)
	}
	return o.Buffer.Write(p)
}

// A meter counts the bytes that are read of the files of a job.
type meter struct {
	j    *job
	size int64

	mu   sync.Mutex // because an ETW trace is read by several goroutines
	read int64
}

// meter returns files whose bytes are counted.
func (j *job) meter(files []open.Content) []open.Content {
	if j.progress == nil {
		return files
	}
	m := &meter{j: j}
	metered := make([]open.Content, len(files))
	for i, f := range files {
		m.size += f.Size
		metered[i] = open.Content{ReaderAt: &meteredFile{f, m}, Size: f.Size, Name: f.Name, Modified: f.Modified}
	}
	return metered
}

type meteredFile struct {
	io.ReaderAt
	m *meter
}

func (f *meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, off)
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.read += int64(n)
	f.m.j.progress(min(f.m.read, f.m.size), f.m.size, f.m.j.collections.Load())
	return n, err
}
