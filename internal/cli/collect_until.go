package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc/request"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// stopOptions are when a trace ends by itself, and how much of it to retain.
type stopOptions struct {
	until  *selection.Condition
	before optionalSpan
	after  optionalSpan
	keep   keepValue
	repeat uint

	provider, event string
	filter          collect.PayloadFilter
}

func (o *stopOptions) addFlags(flags *pflag.FlagSet) {
	flags.Var(conditionFlag(&o.until), "until", "stop when a collection or a request meets this condition, as in 'pause>200ms', and keep the time around it")
	flags.Var(&o.before, "before", "with --until, keep this much time before the collection (default 60s)")
	flags.Var(&o.after, "after", "with --until, continue for this long after it (default 10s; after a stopping event 0s)")
	flags.Var(&o.keep, "keep", "keep only the most recent events: 10m, 500MB, or 10m,2GB (default size 1GB)")
	flags.UintVar(&o.repeat, "repeat", 1, "write this `number` of files, one for each matching collection")
	flags.StringVar(&o.provider, "stopping-event-provider-name", "", "stop at an event of this `provider`")
	flags.StringVar(&o.event, "stopping-event-event-name", "", "stop only at an event of this `name`, as in GC/Start or GCStart")
	flags.Var(&o.filter, "stopping-event-payload-filter", "stop only at an event with these values: field:value,field:value")
}

// conditionHelp lists the figures that conditions ask for.
func conditionHelp() string {
	var b strings.Builder
	for _, f := range selection.ConditionWords() {
		fmt.Fprintf(&b, "  %-9s  %-39s  %s\n", f.Until.Word, f.Until.Meaning, f.Until.Example)
	}
	return b.String()
}

// plan returns the plan that the flags describe. The error is a usage error.
func (o *stopOptions) plan(output string, config *diag.Config) (*collect.Plan, error) {
	waits := o.until != nil || o.provider != ""
	switch {
	case o.event != "" && o.provider == "":
		return nil, misusef("--stopping-event-event-name needs --stopping-event-provider-name")
	case len(o.filter) > 0 && (o.provider == "" || o.event == ""):
		return nil, misusef("--stopping-event-payload-filter needs --stopping-event-provider-name and --stopping-event-event-name")
	case !waits && (o.before.given || o.after.given):
		return nil, misusef("--before and --after need --until, as in --until 'pause>200ms'")
	case !waits && o.repeat != 1, o.repeat == 0:
		return nil, misusef("--repeat must be 1 or more, and needs --until")
	case o.before.given && o.keep.Time > 0:
		return nil, misusef("--before and --keep both set a time: leave one out, or give --keep a size")
	case o.until != nil && !collect.AsksForCollections(config):
		return nil, misusef("--until needs the runtime's events with keyword gc, level informational")
	case o.until != nil && o.until.OfRequests() && (*collect.Providers)(&config.Providers).Find(request.Provider) == nil:
		return nil, misusef("--until %s needs the program's requests: add --requests", text.Quoted(o.until.String()))
	case o.provider != "" && (*collect.Providers)(&config.Providers).Find(o.provider) == nil:
		return nil, misusef("the provider %s of the stopping event is not collected: add it with --providers", o.provider)
	}
	stop := collect.Stop{
		Until: o.until, Keep: collect.Limits(o.keep), Files: int(o.repeat),
		Before: o.before.orNil(), After: o.after.orNil(),
	}
	if o.provider != "" {
		stop.Event = &collect.StoppingEvent{Provider: o.provider, Name: o.event, Filter: o.filter}
	}
	p := stop.Plan()
	if p.Ring && output == "-" {
		return nil, misusef("segments are stored on disk next to the file: choose a file with -o")
	}
	return p, nil
}

// conditionFlag returns a flag that takes a condition over a collection.
func conditionFlag(to **selection.Condition) pflag.Value {
	return parsed[*selection.Condition]{to, "CONDITION", selection.ParseCondition}
}

// An optionalSpan is a span for which unset differs from 0.
type optionalSpan struct {
	span
	given bool
}

func (s *optionalSpan) orNil() *time.Duration {
	if !s.given {
		return nil
	}
	d := time.Duration(s.span)
	return &d
}

func (s *optionalSpan) Set(text string) error {
	s.given = true
	return s.span.Set(text)
}

// A keepValue is a flag that takes a time, a size, or both.
type keepValue collect.Limits

func (k *keepValue) Type() string { return "TIME|SIZE" }

func (k *keepValue) String() string { return "" }

func (k *keepValue) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		var d span
		size, ok := units.ParseBytes(part)
		switch {
		case ok && size < collect.MinKeep:
			return fmt.Errorf("%s is too small: use %s or more", part, units.Bytes(collect.MinKeep))
		case ok && k.Size == 0:
			k.Size = size
		case d.Set(part) == nil && d > 0 && k.Time == 0:
			k.Time = time.Duration(d)
		default:
			return errors.New("must be a time, a size, or both: 10m, 500MB, or 10m,2GB")
		}
	}
	return nil
}
