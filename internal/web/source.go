package web

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

// A file is a trace that can be shown: on disk, and read at the first request, or
// uploaded.
type file struct {
	id   int
	name string
	path string // empty for an upload

	about atomic.Pointer[about] // nil before it was read

	mu     sync.Mutex
	blocks map[string][]byte
}

// pageOptions returns the options for traces and for .gcdump files.
func pageOptions() open.Options {
	opts := report.PageOptions()
	opts.HeapDumps = true
	return opts
}

// block returns a part of the page's data.
func (f *file) block(ctx context.Context, program, name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blocks == nil {
		in, err := open.File(f.path, pageOptions())
		if err != nil {
			return nil, err
		}
		if err := f.read(ctx, program, in); err != nil {
			return nil, err
		}
	}
	data, known := f.blocks[name]
	if !known {
		return nil, errNoBlock
	}
	return data, nil
}

var errNoBlock = errors.New("no such part")

// read makes the page's data of a trace, and closes it. The caller holds the lock.
func (f *file) read(ctx context.Context, program string, in *open.Input) error {
	if in.HeapDump != nil {
		defer in.Close()
		return f.readHeapDump(program, in.HeapDump)
	}
	r := report.NewReading(ctx, in, f.name, []string{cmp.Or(f.path, f.name)})
	r.Once = f.path == ""
	defer r.Close()
	paged := report.NewPaged(r, new(selection.Selection))
	r.Names = paged.Names() // frames without names are shown as such
	var page report.Page
	rep, err := page.Gather(paged, report.Budget{}, nil)
	if err != nil {
		return err
	}
	page.Describe(rep, program)
	if f.path == "" {
		f.about.Store(&about{Entry: rep.Entry()})
	}
	f.blocks, err = page.Blocks()
	return err
}

// readHeapDump makes the page's data of a .gcdump file.
func (f *file) readHeapDump(program string, dump io.Reader) error {
	s, err := heap.ReadGCDump(dump)
	if err != nil {
		return err
	}
	if f.path == "" {
		f.about.Store(&about{Entry: report.SnapshotEntry(s)})
	}
	var page report.Page
	page.AddSnapshots(f.name, &gc.Process{PID: s.PID}, []html.Snapshot{{Snapshot: s, File: f.name}})
	page.DescribeSnapshots(program)
	f.blocks, err = page.Blocks()
	return err
}

// drop forgets the data of a file that can be read again.
func (f *file) drop() {
	if f.path != "" && f.mu.TryLock() {
		f.blocks = nil
		f.mu.Unlock()
	}
}

// upload reads a trace that a page sends. It stores the trace on disk while it is read.
func upload(ctx context.Context, program, name string, body io.Reader) (*file, error) {
	in, err := open.Spooled(body, name, maxUpload, pageOptions())
	if err != nil {
		return nil, err
	}
	f := &file{name: name}
	return f, f.read(ctx, program, in)
}

// An about summarizes a trace in the list of files.
type about struct {
	Bytes int64 `json:"bytes,omitempty"` // of the file
	report.Entry
	Problem string `json:"problem,omitempty"`
}

// summarize reads the files on disk, one after the other, when somebody looks at the list
// for the first time. It ends with ctx.
func (s *Server) summarize(ctx context.Context) {
	select {
	case <-s.looked:
	case <-ctx.Done():
		return
	}
	s.mu.Lock()
	onDisk := s.files[:len(s.opts.Files):len(s.opts.Files)]
	s.mu.Unlock()
	for _, f := range onDisk {
		if ctx.Err() != nil {
			return
		}
		a, err := summary(ctx, f.path)
		if err != nil {
			a = &about{Problem: export.Clean(err.Error())}
		}
		if info, err := os.Stat(f.path); err == nil {
			a.Bytes = info.Size()
		}
		f.about.Store(a)
	}
}

// summary describes a file.
func summary(ctx context.Context, path string) (*about, error) {
	opts := report.Options()
	opts.HeapDumps = true
	in, err := open.File(path, opts)
	if err != nil {
		return nil, err
	}
	if in.HeapDump != nil {
		defer in.Close()
		s, err := heap.ReadGCDump(in.HeapDump)
		if err != nil {
			return nil, err
		}
		return &about{Entry: report.SnapshotEntry(s)}, nil
	}
	r := report.NewReading(ctx, in, path, []string{path})
	defer r.Close()
	rep, err := report.Gather(r, new(selection.Selection), report.Budget{}, nil)
	if err != nil {
		return nil, err
	}
	return &about{Entry: rep.Entry()}, nil
}
