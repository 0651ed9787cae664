package cli

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/outfile"
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

// workFile returns the path of the file beside a trace with the amount of work of its run:
// run-1.work for run-1.nettrace.gz.
func workFile(trace string) string {
	name := strings.TrimRight(trace, string(os.PathSeparator))
	for cut := true; cut; {
		cut = false
		for _, suffix := range traceSuffixes {
			if rest, found := strings.CutSuffix(name, suffix); found {
				name, cut = rest, true
			}
		}
	}
	return name + ".work"
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
	if err := outfile.WriteFile(file, []byte(strconv.FormatFloat(amount, 'g', -1, 64)+"\n"), 0o666); err != nil {
		return &collect.OutputError{Name: file, Err: err}
	}
	return nil
}
