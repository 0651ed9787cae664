package cli

import (
	"context"
	"errors"

	"github.com/gctrail/gctrail/internal/report"
)

// writePage writes the reports of all files as one page.
func (o *reportOptions) writePage(ctx context.Context, std *stdio) error {
	if err := std.refusePage(o.output); err != nil {
		return err
	}
	limitGrowth(pageGrowth)
	var page report.Page
	err := each(o.groups(o.files), func(paths []string) error {
		rep, err := o.gatherPage(ctx, std, paths, &page)
		if err == nil && len(page.Traces) == 1 {
			page.Describe(rep, program())
		}
		return err
	})
	err = errors.Join(err, o.unusedLedgers())
	if len(page.Traces) == 0 {
		return err
	}
	out, createErr := std.create(o.output, o.files)
	if createErr != nil {
		return errors.Join(err, createErr)
	}
	return out.end(errors.Join(err, page.Write(out)))
}

// refusePage returns an error for a page on a terminal.
func (std *stdio) refusePage(output string) error {
	if output == "-" && std.outTerm.Is {
		return misusef("refusing to write a page to a terminal; use -o FILE.html")
	}
	return nil
}

// gatherPage reads the trace at some paths into a page.
func (o *reportOptions) gatherPage(ctx context.Context, std *stdio, paths []string, page *report.Page) (*report.Report, error) {
	r, err := std.read(ctx, paths, report.PageOptions())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	paged := report.NewPaged(r, &o.Selection)
	r.Names = paged.Names()
	if err := o.perfMap.read(r.Names); err != nil {
		return nil, err
	}
	rep, err := page.Gather(paged, o.budget.Budget, o.addLedgers)
	if err != nil {
		return nil, err
	}
	r.finish(paged.Incomplete)
	return rep, nil
}

// program names the program that wrote a file.
func program() string { return "gctrail " + moduleVersion() }
