package blob

import (
	"context"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/open"
)

// growth returns the page about several .gcdump files, which says what grew in each process. It
// is nil if one of the files is something else.
func (j *Job) growth(ctx context.Context) ([]byte, error) {
	var order []uint64
	processes := make(map[uint64][]html.Snapshot)
	for _, f := range j.Files {
		s, err := j.dump(ctx, f)
		if s == nil || err != nil {
			return nil, err
		}
		if processes[s.PID] == nil {
			order = append(order, s.PID)
		}
		processes[s.PID] = append(processes[s.PID], *s)
	}
	var page report.Page
	for _, pid := range order {
		of := processes[pid]
		page.AddSnapshots(of[0].File, &gc.Process{PID: pid}, of)
	}
	page.DescribeSnapshots(j.Program)
	var out output
	err := page.Write(&out)
	return out.Bytes(), err
}

// dump reads one of the files as a .gcdump, nil if it is none. Its error is not
// returned then, because the file is read once more as a trace.
func (j *Job) dump(ctx context.Context, f open.Content) (*html.Snapshot, error) {
	r, err := j.open(ctx, []open.Content{f}, open.Options{HeapDumps: true}, open.Memory(MaxUnpacked))
	if err != nil {
		return nil, nil
	}
	defer r.Close()
	if r.In.HeapDump == nil {
		return nil, nil
	}
	s, err := j.snapshot(&reading{Reading: r})
	if err != nil {
		return nil, err
	}
	return &html.Snapshot{Snapshot: s, File: j.shown(f.Name)}, nil
}
