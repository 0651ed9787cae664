package cli

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
)

// amounts is a flag that takes the amount of work of each run.
type amounts []float64

func (a *amounts) addFlags(flags *pflag.FlagSet, order string) {
	flags.Float64SliceVar((*[]float64)(a), "work", nil, "the amount of work of each run, in the order "+order+": `AMOUNT,...`")
}

// apply sets the work of the runs, if it is given.
func (a amounts) apply(runs []*compare.Run) error {
	if len(a) == 0 {
		return nil
	}
	if len(a) != len(runs) {
		return misusef("--work needs a number for each run: %d given, %s", len(a), text.Counted(len(runs), "run"))
	}
	for i, run := range runs {
		if !(a[i] > 0) || math.IsInf(a[i], 0) {
			return misusef("--work: an amount must be above 0, not %v", a[i])
		}
		run.Work = a[i]
	}
	return nil
}

// read reads groups of traces as runs, and sets the work of all, in their order.
func (a amounts) read(ctx context.Context, std *stdio, o *selection.Selection, page *report.Page, groups ...[]string) ([][]*compare.Run, error) {
	runs := make([][]*compare.Run, len(groups))
	for i, paths := range groups {
		var err error
		if runs[i], err = std.runs(ctx, o, paths, page); err != nil {
			return nil, err
		}
	}
	return runs, a.apply(slices.Concat(runs...))
}

// workFile returns the path of the file beside a trace with the amount of work of its run:
// run-1.work for run-1.nettrace.gz.
func workFile(trace string) string {
	return withoutSuffixes(strings.TrimRight(trace, string(os.PathSeparator))) + ".work"
}

// readWork reads the amount of work from the file beside a trace; 0 if there is none.
func readWork(trace string) (float64, error) {
	file := workFile(trace)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	amount := 0.0
	if err == nil {
		amount, err = comparison.ParseWork(strings.TrimSpace(string(data)))
	}
	if err != nil {
		return 0, &fileError{file, err, "write the amount of work of the run, or remove the file"}
	}
	return amount, nil
}

// writeWork writes the amount of work of a run beside its trace.
func writeWork(trace string, amount float64) error {
	file := workFile(trace)
	return collect.OutputFailed(file, outfile.WriteFile(file, []byte(strconv.FormatFloat(amount, 'g', -1, 64)+"\n"), 0o666))
}
