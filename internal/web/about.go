package web

import (
	"context"
	"os"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

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
