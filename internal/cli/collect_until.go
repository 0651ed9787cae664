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
	collect.Stop
	event  collect.StoppingEvent // has no provider if none is given
	repeat uint
}

func (o *stopOptions) addFlags(flags *pflag.FlagSet) {
	flags.Var(conditionFlag(&o.Until), "until", "stop when a collection or a request meets this condition, as in 'pause>200ms', and keep the time around it")
	flags.Var(parsed[*time.Duration]{&o.Before, "TIME", optionalSpan}, "before", "with --until, keep this much time before the collection (default 60s)")
	flags.Var(parsed[*time.Duration]{&o.After, "TIME", optionalSpan}, "after", "with --until, continue for this long after it (default 10s; after a stopping event 0s)")
	flags.Var((*keepValue)(&o.Keep), "keep", "keep only the most recent events: 10m, 500MB, or 10m,2GB (default size 1GB)")
	flags.UintVar(&o.repeat, "repeat", 1, "write this `number` of files, one for each matching collection")
	flags.StringVar(&o.event.Provider, "stopping-event-provider-name", "", "stop at an event of this `provider`")
	flags.StringVar(&o.event.Name, "stopping-event-event-name", "", "stop only at an event of this `name`, as in GC/Start or GCStart")
	flags.Var(&o.event.Filter, "stopping-event-payload-filter", "stop only at an event with these values: field:value,field:value")
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
	waits := o.Until != nil || o.event.Provider != ""
	switch {
	case o.event.Name != "" && o.event.Provider == "":
		return nil, misusef("--stopping-event-event-name needs --stopping-event-provider-name")
	case len(o.event.Filter) > 0 && (o.event.Provider == "" || o.event.Name == ""):
		return nil, misusef("--stopping-event-payload-filter needs --stopping-event-provider-name and --stopping-event-event-name")
	case !waits && (o.Before != nil || o.After != nil):
		return nil, misusef("--before and --after need --until, as in --until 'pause>200ms'")
	case !waits && o.repeat != 1, o.repeat == 0:
		return nil, misusef("--repeat must be 1 or more, and needs --until")
	case o.Before != nil && o.Keep.Time > 0:
		return nil, misusef("--before and --keep both set a time: leave one out, or give --keep a size")
	case o.Until != nil && !collect.AsksForCollections(config):
		return nil, misusef("--until needs the runtime's events with keyword gc, level informational")
	case o.Until != nil && o.Until.OfRequests() && (*collect.Providers)(&config.Providers).Find(request.Provider) == nil:
		return nil, misusef("--until %s needs the program's requests: add --requests", text.Quoted(o.Until.String()))
	case o.event.Provider != "" && (*collect.Providers)(&config.Providers).Find(o.event.Provider) == nil:
		return nil, misusef("the provider %s of the stopping event is not collected: add it with --providers", o.event.Provider)
	}
	o.Files = int(o.repeat)
	if o.event.Provider != "" {
		o.Event = &o.event
	}
	p := o.Plan()
	if p.Ring && output == "-" {
		return nil, misusef("segments are stored on disk next to the file: choose a file with -o")
	}
	return p, nil
}

// conditionFlag returns a flag that takes a condition over a collection.
func conditionFlag(to **selection.Condition) pflag.Value {
	return parsed[*selection.Condition]{to, "CONDITION", selection.ParseCondition}
}

// optionalSpan parses the value of a flag that is nil, and not 0, if it is not given.
func optionalSpan(s string) (*time.Duration, error) {
	d, err := parseSpan(s)
	return &d, err
}

// A keepValue is a flag that takes a time, a size, or both.
type keepValue collect.Limits

func (k *keepValue) Type() string { return "TIME|SIZE" }

func (k *keepValue) String() string { return "" }

func (k *keepValue) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		size, ok := units.ParseBytes(part)
		d, err := parseSpan(part)
		switch {
		case ok && size < collect.MinKeep:
			return fmt.Errorf("%s is too small: use %s or more", part, units.Bytes(collect.MinKeep))
		case ok && k.Size == 0:
			k.Size = size
		case err == nil && d > 0 && k.Time == 0:
			k.Time = d
		default:
			return errors.New("must be a time, a size, or both: 10m, 500MB, or 10m,2GB")
		}
	}
	return nil
}
