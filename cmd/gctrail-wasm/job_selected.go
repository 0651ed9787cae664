package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

// Select narrows the job to processes and to times, which are empty for all. A process is an id
// or a name as in 'web*'; times are spelt as for --from and --to.
func (j *job) Select(process, from, to string) error {
	j.selected = selection.Selection{}
	for _, flag := range []struct {
		name, value string
		set         func(string) error
	}{
		{"process", strings.TrimSpace(process), j.setProcess},
		{"from", strings.TrimSpace(from), j.selected.From.Set},
		{"to", strings.TrimSpace(to), j.selected.To.Set},
	} {
		if flag.value == "" {
			continue
		}
		if err := flag.set(flag.value); err != nil {
			return fmt.Errorf("%s %q: %w", flag.name, flag.value, err)
		}
	}
	if j.selected.Reversed() {
		return errors.New("from must be before to")
	}
	return nil
}

func (j *job) setProcess(s string) error {
	if j.selected.PIDs.Set(s) == nil {
		return nil
	}
	j.selected.PIDs = nil
	return j.selected.Process.Set(s)
}

// narrow returns the selection with ids in place of a name, which a redacted copy does not have,
// and which a trace may have only at its end.
func (j *job) narrow(ctx context.Context) (*selection.Selection, error) {
	if j.selected.Process == "" {
		return &j.selected, nil
	}
	r, err := j.open(ctx, j.files, open.Options{Want: gc.Wants, HeapDumps: true, Beside: j.beside}, open.Memory(maxUnpacked))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.In.HeapDump != nil { // of one process, without its name
		return &selection.Selection{From: j.selected.From, To: j.selected.To}, nil
	}
	var m gc.Model
	for _, err := range m.Collections(r) {
		if err != nil {
			return nil, err
		}
	}
	by := selection.Selection{From: j.selected.From, To: j.selected.To}
	for _, p := range m.Processes() {
		if j.selected.HasProcess(p) {
			by.PIDs = append(by.PIDs, p.PID)
		}
	}
	if len(by.PIDs) == 0 {
		return nil, fmt.Errorf("no process matches: %s", report.Outside(&j.selected, r.Info(), m.Processes()))
	}
	return &by, nil
}

// outside returns an error for a report on nothing because the trace has none of what is
// selected.
func (r *reading) outside(rep *report.Report) error {
	if len(rep.Document().Processes) > 0 {
		return nil
	}
	if has := report.Outside(r.selected, r.Info(), report.Named(r.Info())); has != "" {
		return fmt.Errorf("%s: nothing of it is selected: %s", r.Name(), has)
	}
	return nil
}
