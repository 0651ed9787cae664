package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/collect"
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
	if err != nil {
		return 0, &workError{file, err}
	}
	amount, err := parseWork(strings.TrimSpace(string(data)))
	if err != nil {
		return 0, &workError{file, err}
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

// maxWorkText bounds the text of an amount that is shown.
const maxWorkText = 40

func parseWork(text string) (float64, error) {
	amount, err := strconv.ParseFloat(text, 64)
	if err != nil || !(amount > 0) || math.IsInf(amount, 0) {
		return 0, fmt.Errorf("an amount of work must be a number above 0, not %q", text[:min(len(text), maxWorkText)])
	}
	return amount, nil
}

// A workError describes an invalid file with the work of a run.
type workError struct {
	name string
	err  error
}

func (e *workError) Error() string {
	return fmt.Sprintf("%s: %s; write the amount of work of the run, or remove the file", e.name, reason(e.err))
}

func (e *workError) Unwrap() error { return e.err }

// A workFinder finds the amount of work in what a program writes: the first group of the
// last match, of all its streams.
type workFinder struct {
	pattern *regexp.Regexp
	mu      sync.Mutex
	last    string
	found   bool
}

// stream returns a writer for one stream of the program.
func (f *workFinder) stream() *workStream { return &workStream{finder: f} }

// amount returns the amount that the last match has.
func (f *workFinder) amount() (float64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.found {
		return 0, fmt.Errorf("no line of the program's output matches --work %q", f.pattern)
	}
	return parseWork(f.last)
}

func (f *workFinder) search(line []byte) {
	matches := f.pattern.FindAllSubmatch(line, -1)
	if len(matches) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.found = string(matches[len(matches)-1][1]), true
}

// maxWorkLine bounds the part of a line that is searched: its last bytes.
const maxWorkLine = 64 << 10

// A workStream searches the lines of one stream.
type workStream struct {
	finder *workFinder
	line   []byte
}

// Write searches the lines that end in p. It never fails, so that the program's output
// always reaches its reader.
func (s *workStream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, more, ended := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, line...)
		if excess := len(s.line) - maxWorkLine; excess > 0 {
			s.line = append(s.line[:0], s.line[excess:]...)
		}
		if !ended {
			break
		}
		s.end()
		rest = more
	}
	return len(p), nil
}

// end searches the line that the stream ended with.
func (s *workStream) end() {
	s.finder.search(s.line)
	s.line = s.line[:0]
}
