package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/text"
)

func newFleetCmd(std *stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Store the collections of many machines, and query them",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef(cmd, "unknown command %q of fleet", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newFleetReceiveCmd(std), newFleetSchemaCmd(std), newFleetTopCmd(std), newFleetGCsCmd(std),
		newFleetCompareCmd(std), newFleetOOMCmd(std), newFleetQueryCmd(std),
	)
	return cmd
}

// storeFlag is where the records are.
type storeFlag struct {
	place string
	store fleet.Store // as opened
}

const (
	storeVariable    = "GCTRAIL_STORE"
	passwordVariable = "CLICKHOUSE_PASSWORD"
)

func (f *storeFlag) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.place, "store", "", "a ClickHouse `address` or a folder (default $"+storeVariable+")")
}

func (f *storeFlag) open() (fleet.Store, error) {
	place := cmp.Or(f.place, os.Getenv(storeVariable))
	if place == "" {
		return nil, misusef("no store: give --store http://host:8123/%s or --store FOLDER, or set %s", fleet.DefaultDatabase, storeVariable)
	}
	store, err := fleet.Open(place, os.Getenv(passwordVariable))
	if err != nil {
		return nil, misusef("--store: %v", err)
	}
	f.store = store
	return store, nil
}

// warnDamaged warns of files of a folder whose rows are missing in the answer.
func (f *storeFlag) warnDamaged(std *stdio) {
	folder, ok := f.store.(*fleet.Folder)
	if !ok {
		return
	}
	damaged := folder.Damaged()
	if len(damaged) == 0 {
		return
	}
	const named = 3
	causes := text.Each(damaged[:min(len(damaged), named)], func(d *fleet.Damage) string { return text.Quoted(d.File) + ": " + reason(d.Err) })
	std.warn("gctrail", fmt.Sprintf("rows of %s are missing: %s", text.Plural(int64(len(damaged)), "damaged file", "damaged files"), strings.Join(causes, "; ")))
}

// ask opens a store that has records.
func (f *storeFlag) ask() (fleet.Store, error) {
	store, err := f.open()
	if folder, ok := store.(*fleet.Folder); ok && err == nil && !folder.Exists() {
		return nil, fmt.Errorf("%s: no records here; store some with: gctrail fleet receive --store %[1]s", folder.Path)
	}
	return store, err
}

// storeError adds the remedy to a store's error.
func storeError(err error) error {
	if fleet.NoSchema(err) {
		return fmt.Errorf("%w; create the tables with: gctrail fleet schema --apply", err)
	}
	return err
}

// A question holds the common flags of all commands that query a store for rows.
type question struct {
	listing
	storeFlag
	from, to ago
	where    []string
	service  string
	pod      string
}

func newQuestion() question {
	return question{listing: newListing("fleet", nil), from: ago{after: 24 * time.Hour, given: true}}
}

// addFlags adds the flags that select rows and shape the answer.
func (q *question) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	q.storeFlag.addFlags(flags)
	q.addFilterFlags(flags)
	q.addOutputFlags(flags, listFormats)
}

func (q *question) addFilterFlags(flags *pflag.FlagSet) {
	flags.Var(agoFlag(&q.from), "from", "only records since then: 90m, 24h or 7d ago, or a time such as 2026-03-01T12:00:00Z; all for no bound")
	flags.Var(agoFlag(&q.to), "to", "only records before then")
	flags.StringVar(&q.service, "service", "", "only this service, a `pattern` such as 'shop*'")
	flags.StringVar(&q.pod, "pod", "", "only this Kubernetes pod, a `pattern`")
	flags.StringArrayVar(&q.where, "where", nil, "only rows that meet this `term`, such as host_name=node-1 or pause_ms>=50; may be given several times")
	flags.Lookup("from").DefValue = "24h"
}

// search returns the store, and the filter for a table of it.
func (q *question) search(t *fleet.Table) (fleet.Store, *fleet.Filter, error) {
	store, err := q.ask()
	if err != nil {
		return nil, nil, err
	}
	filter, err := q.filter(t)
	return store, filter, err
}

// filter returns the filter that the flags describe.
func (q *question) filter(t *fleet.Table) (*fleet.Filter, error) {
	now := time.Now()
	f := &fleet.Filter{From: q.from.before(now), To: q.to.before(now)}
	if !f.To.IsZero() && !f.From.Before(f.To) {
		return nil, misusef("--from is not before --to")
	}
	where := q.where
	if q.service != "" {
		where = append(where[:len(where):len(where)], "service_name="+q.service)
	}
	if q.pod != "" {
		where = append(where[:len(where):len(where)], "k8s_pod="+q.pod)
	}
	for _, s := range where {
		term, err := fleet.ParseTerm(t, s)
		if err != nil {
			return nil, misusef("%v", err)
		}
		f.Where = append(f.Where, term)
	}
	return f, nil
}

// An ago is a point of time, or how long ago it was.
type ago struct {
	given bool
	after time.Duration // ago
	at    time.Time     // zero if after has it
}

func agoFlag(to *ago) pflag.Value { return parsed[ago]{to, "TIME", parseAgo} }

func parseAgo(s string) (ago, error) {
	if s == "all" {
		return ago{}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 36500 {
			return ago{given: true, after: time.Duration(n * 24 * float64(time.Hour))}, nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return ago{given: true, after: d}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04", time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return ago{given: true, at: at}, nil
		}
	}
	return ago{}, errors.New("must be how long ago, such as 90m, 24h or 7d, or a time such as 2026-03-01T12:00:00Z")
}

func (a *ago) before(now time.Time) time.Time {
	switch {
	case !a.given:
		return time.Time{}
	case !a.at.IsZero():
		return a.at
	default:
		return now.Add(-a.after)
	}
}
