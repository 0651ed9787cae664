package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// A choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

func (c *choice) Type() string { return strings.Join(c.of, "|") }

func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.of, ", "))
	}
	c.value = s
	return nil
}

// choices is a flag that takes several of a few words, in either case, with
// commas between them or given several times. None means all.
type choices struct {
	kind   string // of words, for the help
	values []string
	of     []string
}

func (c *choices) Type() string { return c.kind + ",..." }

func (c *choices) String() string { return "" }

func (c *choices) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		i := slices.IndexFunc(c.of, func(word string) bool { return strings.EqualFold(word, part) })
		if i < 0 {
			return fmt.Errorf("%q is not one of %s", part, strings.Join(c.of, ", "))
		}
		c.values = append(c.values, c.of[i])
	}
	return nil
}

// allows reports whether a word is among the requested ones.
func (c *choices) allows(word string) bool {
	return len(c.values) == 0 || slices.Contains(c.values, word)
}

// A wordList is a flag that takes any words, with commas between them or given
// several times.
type wordList []string

func (l *wordList) Type() string { return "NAME,..." }

func (l *wordList) String() string { return "" }

func (l *wordList) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			return errors.New("the name is empty: give a name, or a pattern such as 'web*'")
		}
		*l = append(*l, part)
	}
	return nil
}

// A parsed is a flag whose text a function parses.
type parsed[T any] struct {
	to    *T
	kind  string // of the value, for the help
	parse func(string) (T, error)
}

func (p parsed[T]) Type() string { return p.kind }

func (p parsed[T]) String() string { return "" }

func (p parsed[T]) Set(s string) (err error) {
	*p.to, err = p.parse(s)
	return err
}

// parseSize reads a size with its unit.
func parseSize(s string) (int64, error) {
	n, ok := units.ParseBytes(s)
	if !ok {
		return 0, fmt.Errorf("%q is not a size with its unit, such as 100KB", s)
	}
	return n, nil
}

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

// timesConflict refuses an end that is not after the start.
func timesConflict(s *selection.Selection) error {
	if s.Reversed() {
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
	if s.Process == "" {
		return s.IDs(), nil
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
	pids := map[uint64]bool{}
	for _, p := range m.Processes() {
		if s.HasProcess(p) {
			pids[p.PID] = true
		}
	}
	return pids, nil
}

// An eventFilter narrows the kinds of events that a command takes.
type eventFilter struct {
	names     wordList
	providers wordList
	keywords  selection.Keywords
	level     selection.Level
}

func (f *eventFilter) addFlags(std *stdio, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.names, "name", "only events of these names, without version, as in GCStart")
	flags.Var(&f.providers, "provider", "only events of these providers")
	flags.Var(&f.keywords, "keywords", "only events with one of these keywords: names joined by +, as in gc+gchandle, or hexadecimal")
	flags.Var(&f.level, "level", "only events of this level or a more severe one: 0 to 5, or critical, error, warning, informational, verbose")
	std.complete(cmd, "keywords", selection.KeywordNames())
	std.complete(cmd, "level", selection.LevelNames[1:])
}

// given reports whether the filter leaves anything out.
func (f *eventFilter) given() bool {
	return len(f.names) > 0 || len(f.providers) > 0 || f.keywords != 0 || f.level.Given
}

// wants reports whether events of a kind are asked for.
func (f *eventFilter) wants(d *trace.Descriptor, name string) bool {
	return (len(f.names) == 0 || slices.Contains(f.names, name)) &&
		(len(f.providers) == 0 || slices.ContainsFunc(f.providers, func(p string) bool { return strings.EqualFold(p, d.Provider) })) &&
		(f.keywords == 0 || d.Keywords&uint64(f.keywords) != 0) &&
		(!f.level.Given || d.Level <= f.level.Max)
}
