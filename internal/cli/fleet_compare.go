package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/internal/fleet"
)

type fleetCompareOptions struct {
	question
	sides     []string // terms of BEFORE and AFTER; none with at
	as        choice
	at        ago
	processes int
}

func newFleetCompareCmd(std *stdio) *cobra.Command {
	opts := &fleetCompareOptions{question: newQuestion(), as: choice{"text", []string{"text", "json", "markdown"}}, processes: 32}
	cmd := newCmd(std, opts, "compare BEFORE AFTER | compare --at TIME",
		"Compare versions or times of the fleet, and find what changed", anyArgs(&opts.sides))
	flags := cmd.Flags()
	opts.storeFlag.addFlags(flags)
	opts.addFilterFlags(flags)
	flags.Var(&opts.as, "format", "text, json (one line) or markdown")
	flags.Var(agoFlag(&opts.at), "at", "compare before this time with after it")
	flags.IntVar(&opts.processes, "processes", opts.processes, "compare at most `N` processes of each side, those with the most collections")
	flags.StringVarP(&opts.output, "output", "o", "-", "write to this `file`; - is standard output")
	return cmd
}

func (o *fleetCompareOptions) conflict() error {
	switch {
	case o.processes < 1:
		return errors.New("--processes must be at least 1")
	case o.at.given != (len(o.sides) == 0) || !o.at.given && len(o.sides) != 2:
		return errors.New("expected two selections or --at: gctrail fleet compare service_version=1.4 service_version=1.5")
	}
	return nil
}

// filters returns the filters of the two sides.
func (o *fleetCompareOptions) filters() (before, after *fleet.Filter, err error) {
	if o.at.given {
		return o.around()
	}
	filters := make([]*fleet.Filter, 2)
	for i, terms := range o.sides {
		side := o.question
		side.where = append(side.where[:len(side.where):len(side.where)], strings.Split(terms, ",")...)
		if filters[i], err = side.filter(fleet.Collections()); err != nil {
			return nil, nil, err
		}
	}
	return filters[0], filters[1], nil
}

// around divides the selected time.
func (o *fleetCompareOptions) around() (before, after *fleet.Filter, err error) {
	if before, err = o.filter(fleet.Collections()); err != nil {
		return nil, nil, err
	}
	at := o.at.before(time.Now())
	if !before.From.IsZero() && !before.From.Before(at) || !before.To.IsZero() && !at.Before(before.To) {
		return nil, nil, misusef("--at is not between --from and --to")
	}
	second := *before
	before.To, second.From = at, at
	return before, &second, nil
}

func (o *fleetCompareOptions) run(ctx context.Context, std *stdio) error {
	before, after, err := o.filters()
	if err != nil {
		return err
	}
	store, err := o.ask()
	if err != nil {
		return err
	}
	defer o.warnDamaged(std)
	var sides [2][]*compare.Run
	for i, filter := range []*fleet.Filter{before, after} {
		if sides[i], err = fleet.Runs(ctx, store, filter, o.processes); err != nil {
			return storeError(err)
		}
		if len(sides[i]) == 0 {
			return fmt.Errorf("no collections on the side %s: select others, or a longer time with --from", [2]string{"BEFORE", "AFTER"}[i])
		}
	}
	return std.writeTo(o.output, nil, func(out *output) error {
		return std.writeComparison(out, o.as.value, compare.Compare(sides[0], sides[1]))
	})
}
