package cli

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/trace"
)

// A selection narrows what a command reads of a trace. The zero selection is
// everything.
type selection struct {
	pids     pidList
	process  globValue
	from, to moment
	merge    bool
}

func (s *selection) addFlags(flags *pflag.FlagSet) {
	flags.Var(&s.pids, "pid", "only the processes with these ids")
	flags.Var(&s.process, "process", "only the processes whose name matches, as in 'web*'; not for standard input")
	flags.Var(&s.from, "from", "only from this time on: 1.5s or 2m from the trace's start, or an RFC 3339 time")
	flags.Var(&s.to, "to", "only before this time, in the same forms")
	flags.BoolVar(&s.merge, "merge", false, "put several files on one time line, by the time of day")
}

// check refuses names of processes for standard input: a trace may tell them at
// its end only, and is then read twice.
func (s *selection) check(cmd *cobra.Command, files []string) error {
	if s.process != "" && slices.Contains(files, "-") {
		return usagef(cmd, "--process needs a file that can be read twice; use --pid")
	}
	return nil
}

// groups are the files that are read together.
func (s *selection) groups(files []string) [][]string {
	if s.merge {
		return [][]string{files}
	}
	groups := make([][]string, len(files))
	for i := range files {
		groups[i] = files[i : i+1]
	}
	return groups
}

// collection says whether c is selected. Its time is that of its start, or else
// the first that is known of it.
func (s *selection) collection(info *trace.Info, c *gc.Collection) bool {
	at := c.Start
	if !at.Known {
		at = c.PauseStart
	}
	if !at.Known {
		at = c.End
	}
	return s.who(c.Process) && (s.all() || at.Known && s.when(info, at.V))
}

// who says whether a process is selected.
func (s *selection) who(p *gc.Process) bool {
	if len(s.pids) > 0 && !slices.Contains(s.pids, p.PID) {
		return false
	}
	return s.process.matches(p.Name)
}

// all says whether all times are selected.
func (s *selection) all() bool { return !s.from.set && !s.to.set }

// when says whether a time after the trace's start is selected.
func (s *selection) when(info *trace.Info, at time.Duration) bool {
	if s.from.set && at < s.from.after(info.Start) {
		return false
	}
	return !s.to.set || at < s.to.after(info.Start)
}

// A pidList is a flag that takes process ids.
type pidList []uint64

func (l *pidList) Type() string { return "N,..." }

func (l *pidList) String() string { return "" }

func (l *pidList) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		pid, err := strconv.ParseUint(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return errors.New("a process id is a number")
		}
		*l = append(*l, pid)
	}
	return nil
}

// A globValue is a flag that takes a pattern for names, in which letters match
// in either case. An empty one matches every name.
type globValue string

func (g *globValue) Type() string { return "GLOB" }

func (g *globValue) String() string { return string(*g) }

func (g *globValue) Set(s string) error {
	if _, err := path.Match(s, ""); err != nil {
		return errors.New("a [ in it is not closed")
	}
	*g = globValue(strings.ToLower(s))
	return nil
}

func (g *globValue) matches(name string) bool {
	if *g == "" {
		return true
	}
	ok, err := path.Match(string(*g), strings.ToLower(name))
	return ok && err == nil
}

// A moment is a flag that takes a point of time, counted from the trace's start
// or absolute.
type moment struct {
	set    bool
	offset time.Duration
	at     time.Time // zero where offset counts
}

func (m *moment) Type() string { return "TIME" }

func (m *moment) String() string { return "" }

func (m *moment) Set(s string) error {
	*m = moment{set: true}
	var err error
	if m.offset, err = parseDuration(s); err == nil {
		return nil
	}
	if m.at, err = time.Parse(time.RFC3339, s); err == nil {
		return nil
	}
	return errors.New("a time is 1.5s, 2m, milliseconds, or 2006-01-02T15:04:05Z")
}

// after is the moment as the time since start.
func (m *moment) after(start time.Time) time.Duration {
	if m.at.IsZero() {
		return m.offset
	}
	return m.at.Sub(start)
}

// A duration is a flag that takes a stretch of time.
type duration time.Duration

func (d *duration) Type() string { return "TIME" }

func (d *duration) String() string { return "" }

func (d *duration) Set(s string) error {
	v, err := parseDuration(s)
	*d = duration(v)
	return err
}

// parseDuration reads a duration as Go writes it, or a number of milliseconds.
func parseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	ms, err := strconv.ParseFloat(s, 64)
	if err != nil || ms != ms || ms < -1e12 || ms > 1e12 {
		return 0, errors.New("a duration is 10ms, 1.5s, 2m, or a number of milliseconds")
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}
