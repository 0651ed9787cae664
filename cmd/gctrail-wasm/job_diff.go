package main

import (
	"context"
	"errors"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/open"
)

// Diff returns the page that compares the files, each a run, of which the first ones are from
// before.
func (j *job) Diff(ctx context.Context, before int) ([]byte, error) {
	if before < 1 || before >= len(j.files) {
		return nil, errors.New("a comparison needs a trace from before and one from after")
	}
	var page report.Page
	var runs []*compare.Run
	for _, f := range j.files {
		run, err := j.run(ctx, f, &page)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	if err := comparison.Describe(&page, compare.Compare(runs[:before], runs[before:]), j.program); err != nil {
		return nil, err
	}
	return written(&page)
}

// run reads one of the files as a run.
func (j *job) run(ctx context.Context, f open.Content, page *report.Page) (*compare.Run, error) {
	all := j.files
	j.files = []open.Content{f}
	defer func() { j.files = all }()
	r, err := j.read(ctx, comparison.RunOptions(page))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	run, _, err := comparison.ReadRun(r.Reading, r.selected, page)
	return run, err
}
