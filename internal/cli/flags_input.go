package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/selection"
)

// inputFlags select the part of a command's files to read, and how.
type inputFlags struct {
	selection.Selection
	merge bool
}

func (s *inputFlags) addFlags(flags *pflag.FlagSet) {
	addSelection(flags, &s.Selection)
	flags.BoolVar(&s.merge, "merge", false, "merge several files into one timeline, by wall-clock time")
}

// addSelection adds the flags that narrow the reading of a trace.
func addSelection(flags *pflag.FlagSet, s *selection.Selection) {
	flags.Var(&s.PIDs, "pid", "only the processes with these ids")
	flags.Var(&s.Process, "process", "only processes with matching names, as in 'web*'; not for standard input")
	flags.Var(&s.From, "from", "start at this time: 1.5s or 2m from the start of the trace, or an RFC 3339 time")
	flags.Var(&s.To, "to", "end at this time, in the same forms")
}

// timesConflict refuses an end that is not after the start. It cannot compare a time of day
// with one from the start of the trace.
func timesConflict(s *selection.Selection) error {
	if s.From.Given && s.To.Given && s.From.At.IsZero() == s.To.At.IsZero() && s.From.After(s.To.At) >= s.To.After(s.To.At) {
		return errors.New("--from must be before --to: give the earlier time to --from")
	}
	return nil
}

// conflict refuses names of processes for standard input, because a trace may have them only at
// its end, and must then be read twice.
func (s *inputFlags) conflict(files []string) error {
	if err := timesConflict(&s.Selection); err != nil {
		return err
	}
	if s.Process != "" && slices.Contains(files, "-") {
		return errors.New("--process needs a file that can be read twice; use --pid")
	}
	return nil
}

// groups returns the files that are read together.
func (s *inputFlags) groups(files []string) [][]string {
	if s.merge {
		return [][]string{files}
	}
	groups := make([][]string, len(files))
	for i := range files {
		groups[i] = files[i : i+1]
	}
	return groups
}

// processIDs returns the processes asked for; nil means all. A process's name
// may come late in a trace, which is then read twice.
func (s *inputFlags) processIDs(r *reading) (map[uint64]bool, error) {
	if s.Process == "" && len(s.PIDs) == 0 {
		return nil, nil
	}
	pids := map[uint64]bool{}
	if s.Process == "" {
		for _, pid := range s.PIDs {
			pids[pid] = true
		}
		return pids, nil
	}
	src, err := r.Again(gc.Wants)
	if err != nil {
		return nil, r.Fail(err)
	}
	var m gc.Model
	for _, err := range m.Collections(src) {
		if err != nil {
			return nil, err
		}
	}
	for _, p := range m.Processes() {
		if s.HasProcess(p) {
			pids[p.PID] = true
		}
	}
	return pids, nil
}
