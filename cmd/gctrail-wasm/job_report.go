package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
)

// Page returns the page about the trace, or about the heap snapshots of .gcdump files.
func (j *job) Page(ctx context.Context) ([]byte, error) {
	if len(j.files) > 1 {
		if page, err := j.growth(ctx); page != nil || err != nil {
			return page, err
		}
	}
	opts := report.PageOptions()
	opts.HeapDumps = true
	r, err := j.read(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var page report.Page
	if r.In.HeapDump != nil {
		s, err := j.redact.ReadGCDump(r.In.HeapDump)
		if err != nil {
			return nil, err
		}
		name := j.redact.Name(r.Name())
		page.AddSnapshots(name, &gc.Process{PID: s.PID}, []html.Snapshot{{Snapshot: s, File: name}})
		page.DescribeSnapshots(j.program)
	} else {
		paged := report.NewPaged(r, r.selected)
		r.Names = paged.Names()
		rep, err := page.Gather(paged, report.Budget{}, nil)
		if err != nil {
			return nil, err
		}
		if err := r.outside(rep); err != nil {
			return nil, err
		}
		page.Describe(rep, j.program)
	}
	return written(&page)
}

// Entry describes the files for a list of traces, as JSON.
func (j *job) Entry(ctx context.Context) ([]byte, error) {
	opts := report.Options()
	opts.HeapDumps = true
	r, err := j.read(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.In.HeapDump != nil {
		s, err := j.redact.ReadGCDump(r.In.HeapDump)
		if err != nil {
			return nil, err
		}
		return json.Marshal(report.SnapshotEntry(s))
	}
	rep, err := report.Gather(r, r.selected, report.Budget{}, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		report.Entry
		Beside string `json:"beside,omitempty"`
	}{rep.Entry(), r.Beside()})
}

// Report returns the report on the trace as gctrail report prints it: json, markdown, or
// full, which is all of the JSON.
func (j *job) Report(ctx context.Context, format string) ([]byte, error) {
	r, err := j.read(ctx, report.Options())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	details := report.NewDetails(r.selected, r.Info())
	r.Names = details.Names()
	rep, err := report.Gather(r, r.selected, report.Budget{}, details)
	if err != nil {
		return nil, err
	}
	if err := r.outside(rep); err != nil {
		return nil, err
	}
	var out output
	switch format {
	case "json":
		err = rep.WriteBriefJSON(&out)
	case "full":
		err = rep.WriteJSON(&out)
	case "markdown":
		p := text.PageOn(text.Terminal{})
		rep.WriteMarkdown(p)
		_, err = out.Write(p.Bytes())
	default:
		err = fmt.Errorf("there is no report as %q", format)
	}
	return out.Bytes(), err
}

// growth returns the page about several .gcdump files, which says what grew in each process. It
// is nil if one of the files is something else.
func (j *job) growth(ctx context.Context) ([]byte, error) {
	var order []uint64
	processes := make(map[uint64][]html.Snapshot)
	for _, f := range j.files {
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
	page.DescribeSnapshots(j.program)
	return written(&page)
}

// dump reads one of the files as a .gcdump, nil if it is none. Its error is not
// returned then, because the file is read once more as a trace.
func (j *job) dump(ctx context.Context, f open.Content) (*html.Snapshot, error) {
	r, err := j.open(ctx, []open.Content{f}, open.Options{HeapDumps: true}, open.Memory(maxUnpacked))
	if err != nil {
		return nil, nil
	}
	defer r.Close()
	if r.In.HeapDump == nil {
		return nil, nil
	}
	s, err := j.redact.ReadGCDump(r.In.HeapDump)
	if err != nil {
		return nil, err
	}
	return &html.Snapshot{Snapshot: s, File: j.redact.Name(f.Name)}, nil
}
