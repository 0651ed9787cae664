package web

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// A file is a trace that can be shown: on disk, and read at the first request, or
// uploaded.
type file struct {
	id   int
	name string
	path string // empty for an upload

	mu     sync.Mutex
	blocks map[string][]byte
	size   int // of the blocks
}

// block returns a part of the page's data.
func (f *file) block(ctx context.Context, program, name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blocks == nil {
		in, err := open.File(f.path, open.Options{Want: report.WantsPage, Stacks: true})
		if err != nil {
			return nil, err
		}
		defer in.Close()
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

// read makes the page's data of a trace. The caller holds the lock.
func (f *file) read(ctx context.Context, program string, in *open.Input) error {
	r := &reading{Source: in.Source, in: in, file: f, ctx: ctx}
	paged := report.NewPaged(r, new(selection.Selection))
	r.feed = paged.Feed
	r.end = func() { _ = paged.Names().ReadPerfMaps(in.PerfMap) } // frames without names are shown as such
	var page report.Page
	rep, err := page.Gather(paged, report.Budget{}, nil)
	if err != nil {
		return err
	}
	page.Describe(rep, program)
	if f.blocks, err = page.Blocks(); err != nil {
		return err
	}
	for _, data := range f.blocks {
		f.size += len(data)
	}
	return nil
}

// drop forgets the data of a file that can be read again.
func (f *file) drop() {
	if f.path != "" && f.mu.TryLock() {
		f.blocks, f.size = nil, 0
		f.mu.Unlock()
	}
}

// upload reads a trace that a page sends. It stores the trace on disk while it is read.
func upload(ctx context.Context, program, name string, body io.Reader) (*file, error) {
	in, err := open.Spooled(body, name, maxUpload, open.Options{Want: report.WantsPage, Stacks: true})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f := &file{name: name}
	return f, f.read(ctx, program, in)
}

// A reading is a trace while it is read: until the request's context is done.
type reading struct {
	trace.Source
	in   *open.Input
	file *file
	ctx  context.Context
	feed func(*trace.Event)
	end  func() // is called at the end of the events
}

// Name is the trace's.
func (r *reading) Name() string { return r.file.name }

// Paths returns the paths of the trace's files, for commands.
func (r *reading) Paths() []string {
	if r.file.path == "" {
		return []string{r.file.name}
	}
	return []string{r.file.path}
}

// Merged is nil: each file is a trace of its own.
func (r *reading) Merged() *trace.Merged { return nil }

// Collections yields the trace's collections.
func (r *reading) Collections(m *gc.Model) iter.Seq2[*gc.Collection, error] {
	return m.Collections(r)
}

// Events yields the trace's events until the context is done.
func (r *reading) Events() iter.Seq2[*trace.Event, error] {
	const often = 256 // events between two looks at the context
	return func(yield func(*trace.Event, error) bool) {
		n := 0
		for ev, err := range r.Source.Events() {
			if n++; n%often == 0 && r.ctx.Err() != nil {
				yield(nil, r.ctx.Err())
				return
			}
			if err == nil {
				r.feed(ev)
			}
			if !yield(ev, err) {
				return
			}
		}
		r.end()
	}
}
