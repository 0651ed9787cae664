package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gctrail/gctrail/export/snapshot"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/open"
)

// An exportFormat is a format that Convert writes.
type exportFormat struct{ Name, Suffix, Says string }

// exportFormats returns the formats. A format of several files comes as a zip.
func exportFormats() []exportFormat {
	var all []exportFormat
	for _, f := range convert.Formats() {
		of := exportFormat{f.Name, f.Suffixes[0], f.Says}
		if len(f.Files("")) > 1 {
			of.Suffix += ".zip"
		}
		all = append(all, of)
	}
	return all
}

// Convert returns the trace, or the heap snapshot, in a format of gctrail convert.
func (j *job) Convert(ctx context.Context, format string) ([]byte, error) {
	f := convert.Named(format)
	switch {
	case f == nil:
		return nil, fmt.Errorf("there is no format %q", format)
	case f.Report:
		return j.Report(ctx, f.Name)
	case f.Events:
		return j.events(ctx)
	}
	var selected selection.Selection // which is known once the trace is open
	c := convert.New(f, &selected, len(f.Files("")) > 1)
	c.Redacted = j.redact.On
	r, err := j.read(ctx, open.Options{Want: c.Wants(), Stacks: c.Stacks(), HeapDumps: f.Snapshots()})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	selected = *r.selected
	c.PIDs = selected.IDs()
	r.Names = c.Names()
	names := f.Files(strings.TrimSuffix(r.Name(), ".gz"))
	outs := make([]output, len(names))
	writers := text.Each(outs, func(out *output) io.Writer { return out })
	if r.In.HeapDump != nil {
		s, err := j.redact.ReadGCDump(r.In.HeapDump)
		if err != nil {
			return nil, err
		}
		err = c.WriteHeapDump(r.Name(), s, writers)
		if err != nil {
			return nil, lacking(err, f)
		}
	} else if err := c.Write(r, writers); err != nil {
		return nil, lacking(err, f)
	}
	if len(outs) == 1 {
		return outs[0].Bytes(), nil
	}
	return zipped(names, outs)
}

// lacking returns the error for a trace that has nothing for a format.
func lacking(err error, f *convert.Format) error {
	switch {
	case errors.Is(err, snapshot.ErrIncomplete):
		return errors.New("the heap snapshot is not whole, and other tools cannot tell")
	case errors.Is(err, convert.ErrNothing):
		return fmt.Errorf("the trace has nothing for %s, %s", f.Name, f.Says)
	}
	return err
}

// events returns the trace's events as a .nettrace.
func (j *job) events(ctx context.Context) ([]byte, error) {
	selected, err := j.narrow(ctx)
	if err != nil {
		return nil, err
	}
	r, err := j.open(ctx, j.files, open.Options{Stacks: true, Beside: j.beside}, open.Memory(maxUnpacked))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	opts := convert.EventOptions{Selected: selected, PIDs: selected.IDs()}
	redactor, lost, err := j.learn(ctx, r)
	if err != nil {
		return nil, err
	}
	opts.Lost = lost
	if j.redact.On {
		opts.Redact = redactor
	}
	var out output
	if _, err := convert.Events(r, &out, opts); err != nil {
		return nil, lacking(err, convert.Named("nettrace"))
	}
	return out.Bytes(), nil
}

// zipped returns files in a zip.
func zipped(names []string, files []output) ([]byte, error) {
	var out output
	z := zip.NewWriter(&out)
	for i, name := range names {
		w, err := z.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(files[i].Bytes()); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}
