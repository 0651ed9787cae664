package web

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gctrail/gctrail/export"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
)

// An about summarizes a trace in the list of files.
type about struct {
	Bytes    int64         `json:"bytes,omitempty"` // of the file
	Process  string        `json:"process,omitempty"`
	Start    *time.Time    `json:"start,omitempty"`
	Duration report.Millis `json:"duration_ms,omitempty"`
	Verdict  string        `json:"verdict,omitempty"`
	Problem  string        `json:"problem,omitempty"`
}

// describe describes a trace by its report.
func describe(rep *report.Report, start time.Time) *about {
	d := rep.Document()
	a := &about{Duration: d.Duration, Verdict: d.Verdict}
	if !start.IsZero() {
		a.Start = &start
	}
	if len(d.Processes) > 0 {
		a.Process = export.Clean(cmp.Or(d.Processes[0].Name.Or(""), "process"))
		if more := len(d.Processes) - 1; more > 0 {
			a.Process += fmt.Sprintf(" and %d more", more)
		}
	}
	return a
}

// describeHeap describes a .gcdump file.
func describeHeap(s *heap.Snapshot) *about {
	return &about{Verdict: fmt.Sprintf("Heap snapshot: %s%s objects, %s.", s.About(), units.Count(s.Objects), units.Bytes(s.Bytes))}
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
		return describeHeap(s), nil
	}
	r := report.NewReading(ctx, in, path, []string{path})
	defer r.Close()
	rep, err := report.Gather(r, new(selection.Selection), report.Budget{}, nil)
	if err != nil {
		return nil, err
	}
	return describe(rep, r.Info().Start), nil
}
