// Package selection narrows the reading of a trace to some of its processes, of its time and
// of its events, and selects collections and requests by conditions. It spells the runtime's
// events as dotnet-trace does: keywords, levels, providers, and the names of profiles.
package selection

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/trace"
)

// A Selection narrows the reading of a trace. The zero selection is everything.
type Selection struct {
	PIDs     PIDs
	Process  Glob
	From, To moment
}

// HasCollection reports whether c is selected. Its time is that of its start, or else
// the first that is known of it.
func (s *Selection) HasCollection(info *trace.Info, c *gc.Collection) bool {
	at := c.Start
	if !at.Known() {
		at = c.PauseStart
	}
	if !at.Known() {
		at = c.End
	}
	return s.HasProcess(c.Process) && (s.AllTimes() || at.Known() && s.HasTime(info, at.Or(0)))
}

// HasProcess reports whether a process is selected.
func (s *Selection) HasProcess(p *gc.Process) bool {
	if len(s.PIDs) > 0 && !slices.Contains(s.PIDs, p.PID) {
		return false
	}
	return s.Process == "" || slices.ContainsFunc(p.Names(), s.Process.Matches)
}

// IDs returns the process ids that are selected, nil for all.
func (s *Selection) IDs() map[uint64]bool {
	if len(s.PIDs) == 0 {
		return nil
	}
	ids := make(map[uint64]bool)
	for _, pid := range s.PIDs {
		ids[pid] = true
	}
	return ids
}

// AllTimes reports whether all times are selected.
func (s *Selection) AllTimes() bool { return !s.From.Given && !s.To.Given }

// HasTime reports whether a time after the trace's start is selected.
func (s *Selection) HasTime(info *trace.Info, at time.Duration) bool {
	if s.From.Given && at < s.From.After(info.Start) {
		return false
	}
	return !s.To.Given || at < s.To.After(info.Start)
}

// Overlaps reports whether a trace, which was read to its end, has a part of the
// selected time.
func (s *Selection) Overlaps(info *trace.Info) bool {
	from, to := s.Span(info)
	return from.Or(0) <= info.Last && (!to.Known() || to.Or(0) > 0)
}

// Span returns the times from and to which a trace is selected, unknown if
// there is no bound.
func (s *Selection) Span(info *trace.Info) (from, to gc.Opt[time.Duration]) {
	return gc.SomeIf(s.From.After(info.Start), s.From.Given), gc.SomeIf(s.To.After(info.Start), s.To.Given)
}

// Length returns how long the selected part of a trace is.
func (s *Selection) Length(info *trace.Info) time.Duration {
	from, to := s.Span(info)
	return max(0, min(to.Or(info.Last), info.Last)-max(0, from.Or(0)))
}

// Reversed reports whether the end is not after the start. A time of day cannot be compared with
// one from the start of the trace.
func (s *Selection) Reversed() bool {
	return s.From.Given && s.To.Given && s.From.At.IsZero() == s.To.At.IsZero() && s.From.After(s.To.At) >= s.To.After(s.To.At)
}

// Flags returns the selection as flags of a command, with their values.
func (s *Selection) Flags() []string {
	var words []string
	if len(s.PIDs) > 0 {
		ids := text.Each(s.PIDs, func(pid *uint64) string { return strconv.FormatUint(*pid, 10) })
		words = append(words, "--pid", strings.Join(ids, ","))
	}
	if s.Process != "" {
		words = append(words, "--process", string(s.Process))
	}
	if s.From.Given {
		words = append(words, "--from", s.From.spell())
	}
	if s.To.Given {
		words = append(words, "--to", s.To.spell())
	}
	return words
}

// A PIDs is a flag that takes process ids.
type PIDs []uint64

func (l *PIDs) Type() string { return "N,..." }

func (l *PIDs) String() string { return "" }

func (l *PIDs) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		pid, err := strconv.ParseUint(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return errors.New("a process id must be a number")
		}
		*l = append(*l, pid)
	}
	return nil
}

// A Glob is a flag that takes a pattern for names, in which letters match
// in either case. An empty one matches every name.
type Glob string

func (g *Glob) Type() string { return "GLOB" }

func (g *Glob) String() string { return string(*g) }

func (g *Glob) Set(s string) error {
	if _, err := path.Match(s, ""); err != nil {
		return errors.New("it has an unclosed [")
	}
	*g = Glob(strings.ToLower(s))
	return nil
}

func (g *Glob) Matches(name string) bool {
	if *g == "" {
		return true
	}
	ok, err := path.Match(string(*g), strings.ToLower(name))
	return ok && err == nil
}

// A moment is a flag that takes a point of time, counted from the trace's start
// or absolute.
type moment struct {
	Given  bool
	Offset time.Duration
	At     time.Time // zero if offset counts
}

func (m *moment) Type() string { return "TIME" }

func (m *moment) String() string { return "" }

func (m *moment) Set(s string) error {
	*m = moment{Given: true}
	var err error
	if m.Offset, err = parseDuration(s); err == nil {
		return nil
	}
	if m.At, err = time.Parse(time.RFC3339, s); err == nil {
		return nil
	}
	return errors.New("must be a time: 1.5s, 2m, a number of milliseconds, or 2006-01-02T15:04:05Z")
}

// After returns the moment as the time since start.
func (m *moment) After(start time.Time) time.Duration {
	if m.At.IsZero() {
		return m.Offset
	}
	return m.At.Sub(start)
}

func (m *moment) spell() string {
	if m.At.IsZero() {
		return m.Offset.String()
	}
	return m.At.Format(time.RFC3339Nano)
}

// A Duration is a flag that takes a stretch of time.
type Duration time.Duration

func (d *Duration) Type() string { return "TIME" }

func (d *Duration) String() string { return "" }

func (d *Duration) Set(s string) error {
	v, err := parseDuration(s)
	*d = Duration(v)
	return err
}

// parseDuration reads a duration as Go writes it, or a number of milliseconds.
func parseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	ms, err := strconv.ParseFloat(s, 64)
	if err != nil || ms != ms || ms < -1e12 || ms > 1e12 {
		return 0, errors.New("must be a duration: 10ms, 1.5s, 2m, or a number of milliseconds")
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}
