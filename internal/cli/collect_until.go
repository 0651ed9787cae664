package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/condition"
	"github.com/gctrail/gctrail/internal/provider"
	"github.com/gctrail/gctrail/internal/tracefile"
	"github.com/gctrail/gctrail/internal/units"
)

// stopOptions say when a trace ends by itself, and how much of it is kept.
type stopOptions struct {
	until  conditionValue
	before optionalSpan
	after  optionalSpan
	keep   keepValue
	repeat uint

	provider, event string
	filter          payloadFilter
}

// What --until keeps: a pause that happens once a day is explained by the minute
// before it, and what followed is seen in a few seconds.
const (
	defaultBefore = 60 * time.Second
	defaultAfter  = 10 * time.Second
	defaultKeep   = 1_000_000_000
	// longestCollection is how long before the end of a collection the ring reaches
	// further back than is asked for: the time before counts from its start.
	longestCollection = 60 * time.Second
)

func (o *stopOptions) addFlags(flags *pflag.FlagSet) {
	flags.Var(&o.until, "until", "end when a collection meets this, as in 'pause>200ms', and keep what is around it")
	flags.Var(&o.before, "before", "keep this much before what --until waits for (default 60s)")
	flags.Var(&o.after, "after", "go on this long after what is waited for (default 10s; after a stopping event 0s)")
	flags.Var(&o.keep, "keep", "keep only what is last: 10m, 500MB, or 10m,2GB (default size 1GB)")
	flags.UintVar(&o.repeat, "repeat", 1, "make this `number` of files, each for another collection")
	flags.StringVar(&o.provider, "stopping-event-provider-name", "", "end at an event of this `provider`")
	flags.StringVar(&o.event, "stopping-event-event-name", "", "and of this `name`, as in GC/Start or GCStart")
	flags.Var(&o.filter, "stopping-event-payload-filter", "and with these values: field:value,field:value")
}

// stopHelp is the part of the help that tells of stopping and keeping.
func stopHelp() string {
	var b strings.Builder
	b.WriteString(`Waiting for a collection:

  --until 'gen=2 and (pause>200ms or suspend>50ms)'

collects until a collection meets the condition and keeps the minute before it
and 10 seconds after it (--before, --after), at most 1 GB (--keep). --repeat 5
makes five such files; each begins where the one before it ends. --keep without
--until keeps what is last until Ctrl-C, or until the process ends or dies. What
may be kept lies beside the file, in NAME.ring-0001.nettrace and so on, which are
removed at the end; should gctrail be killed, each of them is a trace that can be
read. A full disk makes them fewer.

A condition compares by > >= < <= = != and is joined by and, or and ( ). What is
not known of a collection meets nothing. Figures of a collection, and how their
values are written (MB are 1,000,000 bytes, MiB 1,048,576):

`)
	for f := range condition.Figures() {
		fmt.Fprintf(&b, "  %-9s  %-39s  %s\n", f.Name, f.Meaning, f.Values)
	}
	return b.String()
}

// A stopPlan is when traces end, and what is kept of them. It is not changed by
// the captures that it is for.
type stopPlan struct {
	until  *condition.Condition // nil for none
	event  *stoppingEvent       // nil for none
	before time.Duration        // 0 for all that the ring holds
	after  time.Duration
	ring   bool
	keep   tracefile.Limits
	files  int
}

// plan is what the flags ask for. The error is a usage error.
func (o *stopOptions) plan(cmd *cobra.Command, output string, config *diag.Config) (*stopPlan, error) {
	waits := o.until.Condition != nil || o.provider != ""
	switch {
	case o.event != "" && o.provider == "":
		return nil, usagef(cmd, "--stopping-event-event-name needs --stopping-event-provider-name")
	case len(o.filter) > 0 && (o.provider == "" || o.event == ""):
		return nil, usagef(cmd, "--stopping-event-payload-filter needs --stopping-event-provider-name and --stopping-event-event-name")
	case !waits && (o.before.given || o.after.given):
		return nil, usagef(cmd, "--before and --after are about a moment: say with --until which one, as in --until 'pause>200ms'")
	case !waits && o.repeat != 1, o.repeat == 0:
		return nil, usagef(cmd, "--repeat makes a file for each collection that meets --until, one or more")
	case o.before.given && o.keep.Time > 0:
		return nil, usagef(cmd, "--before and --keep both say for how long: leave one out, or give --keep a size")
	case o.until.Condition != nil && !provider.AsksForCollections(config):
		return nil, usagef(cmd, "--until asks collections: collect events of the runtime's with keyword gc, level informational")
	case o.provider != "" && (*provider.List)(&config.Providers).Find(o.provider) == nil:
		return nil, usagef(cmd, "the stopping event's provider %s is not collected: add it with --providers", o.provider)
	}
	p := &stopPlan{
		until: o.until.Condition, before: time.Duration(o.before.span), after: time.Duration(o.after.span),
		keep: tracefile.Limits{Time: o.keep.Time, Size: cmp.Or(o.keep.Size, defaultKeep)}, files: int(o.repeat),
	}
	if o.provider != "" {
		p.event = &stoppingEvent{provider: o.provider, name: o.event, filter: o.filter}
	}
	p.ring = p.until != nil || o.keep.set() || o.before.given
	if p.until != nil {
		if !o.before.given && !o.keep.set() {
			p.before = defaultBefore
		}
		if !o.after.given {
			p.after = defaultAfter
		}
	}
	if p.before > 0 {
		p.keep.Time = p.before
	} else {
		p.before = p.keep.Time
	}
	if waits && p.keep.Time > 0 {
		p.keep.Time += longestCollection
	}
	if p.ring && output == "-" {
		return nil, usagef(cmd, "what is kept lies on disk beside the file until it is known what that is: choose a file with -o")
	}
	return p, nil
}

// waitsFor says what ends the trace; empty where nothing does.
func (p *stopPlan) waitsFor() string {
	switch {
	case p.until != nil && p.event != nil:
		return p.until.String() + " or " + p.event.String()
	case p.until != nil:
		return p.until.String()
	case p.event != nil:
		return p.event.String()
	}
	return ""
}

// keeps says how much is kept.
func (p *stopPlan) keeps() string {
	if p.before > 0 {
		return "the last " + spanText(p.before)
	}
	return "the last " + units.Bytes(p.keep.Size)
}

// around says what is kept around an occasion.
func (p *stopPlan) around() string {
	before := spanText(p.before)
	if p.before == 0 {
		before = "what fits into " + units.Bytes(p.keep.Size)
	}
	return before + " before it and " + spanText(p.after) + " after it"
}

// aim says what a trace to a path is for.
func (p *stopPlan) aim(path string) string {
	switch waits := p.waitsFor(); {
	case p.ring && waits != "":
		return " until " + waits + ", to keep " + p.around() + " in " + path
	case p.ring:
		return ", to keep " + p.keeps() + " in " + path
	case waits != "":
		return " to " + path + " until " + waits
	}
	return " to " + path
}

// spanText writes a time as a person gives it: 90s is 1m30s, 60s is 1m.
func spanText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// numbered is the path of the nth file of several.
func numbered(path string, nth, of int) string {
	if of <= 1 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(path, ext), len(strconv.Itoa(of)), nth, ext)
}

// An occasion is what a trace was waiting for, when it came.
type occasion struct {
	from, to time.Duration // of the trace
	what     string
}

// met is the occasion of a collection.
func met(c *gc.Collection) *occasion {
	m := &occasion{from: c.Start.V, to: c.End.V}
	if c.PauseStart.Known && (!c.Start.Known || c.PauseStart.V < m.from) {
		m.from = c.PauseStart.V
	}
	if !c.Start.Known && !c.PauseStart.Known {
		m.from = c.End.V
	}
	var parts []string
	if c.Generation.Known {
		parts = append(parts, "gen "+strconv.Itoa(c.Generation.V))
	}
	if c.Kind != gc.KindUnknown {
		parts = append(parts, c.Kind.String())
	}
	if c.Reason.Known {
		parts = append(parts, c.Reason.V.String())
	}
	if pause := c.Pause(); pause.Known {
		parts = append(parts, "paused "+units.Duration(pause.V))
	}
	m.what = fmt.Sprintf("collection %d (%s)", c.Number, strings.Join(parts, ", "))
	return m
}

// A conditionValue is a flag that takes a condition over a collection.
type conditionValue struct{ *condition.Condition }

func (v *conditionValue) Type() string { return "CONDITION" }

func (v *conditionValue) String() string { return "" }

func (v *conditionValue) Set(s string) error {
	c, err := condition.Parse(s)
	v.Condition = c
	return err
}

// An optionalSpan is a span that is told from one of 0.
type optionalSpan struct {
	span
	given bool
}

func (s *optionalSpan) Set(text string) error {
	s.given = true
	return s.span.Set(text)
}

// A keepValue is a flag that takes a time, a size, or both.
type keepValue tracefile.Limits

func (k *keepValue) Type() string { return "TIME|SIZE" }

func (k *keepValue) String() string { return "" }

func (k *keepValue) set() bool { return k.Time > 0 || k.Size > 0 }

func (k *keepValue) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		var d span
		size, ok := parseSize(part)
		switch {
		case ok && size < minKeep:
			return fmt.Errorf("%s is too little, a ring has at least %s", part, units.Bytes(minKeep))
		case ok && k.Size == 0:
			k.Size = size
		case d.Set(part) == nil && d > 0 && k.Time == 0:
			k.Time = time.Duration(d)
		default:
			return errors.New("it is a time, a size, or both: 10m or 500MB or 10m,2GB")
		}
	}
	return nil
}

// minKeep is the least size of a ring: some blocks of the runtime's.
const minKeep = 1_000_000

// sizeUnits are what sizes are written in.
var sizeUnits = []struct {
	name string
	size float64
}{{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

func parseSize(s string) (int64, bool) {
	for _, u := range sizeUnits {
		digits := len(s) - len(u.name)
		if digits <= 0 || !strings.EqualFold(s[digits:], u.name) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(s[:digits]), 64)
		if err == nil && v >= 0 && v*u.size < 1e18 {
			return int64(v * u.size), true
		}
	}
	return 0, false
}
