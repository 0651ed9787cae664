package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/internal/report"
)

// objectsPage is the format of a page with the snapshots of all files.
const objectsPage = "html"

// writePage writes the snapshots of all files as one page.
func (o *objectsOptions) writePage(ctx context.Context, std *stdio) error {
	if err := std.refusePage(o.output); err != nil {
		return err
	}
	out, err := o.create(std, o.files)
	if err != nil {
		return err
	}
	err = each(o.groups(o.files), func(paths []string) error { return o.list(ctx, std, out, paths) })
	if len(o.listed) == 0 {
		return out.end(cmp.Or(err, errors.New("there is no heap snapshot to show")))
	}
	var page report.Page
	for _, of := range byProcess(o.listed) {
		snapshots := make([]html.Snapshot, len(of))
		for i, s := range of {
			snapshots[i] = html.Snapshot{Snapshot: s.Snapshot}
			if len(o.files) > 1 || s.Number == 0 {
				snapshots[i].File = s.file
			}
		}
		page.AddSnapshots(of[0].file, of[0].process, snapshots)
	}
	page.DescribeSnapshots(program())
	return out.end(errors.Join(err, page.Write(out)))
}
