package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/text"
)

// asked returns the options, plan and config of collect with these arguments.
func asked(t *testing.T, args ...string) (*collectOptions, *collect.Plan, diag.Config) {
	t.Helper()
	o := newCollectOptions()
	cmd := o.command(&stdio{err: text.NewPrinter(io.Discard)})
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	config, _ := o.request().Config()
	plan, err := o.stop.plan(o.output, &config)
	if err != nil {
		t.Fatal(err)
	}
	return o, plan, config
}

// watching collects from a runtime, as the arguments say, until the trace ends or
// ctx is done. It returns the collections in the file.
func watching(ctx context.Context, t *testing.T, f *dotnettest.Runtime, args ...string) (all []*gc.Collection, said string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "web.nettrace")
	o, plan, config := asked(t, append(args, "-o", path)...)
	var talk bytes.Buffer
	if err := o.gatherWith(ctx, &stdio{out: io.Discard, err: text.NewPrinter(&talk)}, listen(t, f), config, plan); err != nil {
		t.Fatalf("%v\n%s", err, talk.String())
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v are there, %v", files, err)
	}
	return dotnettest.MustEndFile(t, path), talk.String()
}

// numbers returns the numbers of the first and the last complete collection.
func numbers(all []*gc.Collection) (first, last uint32) {
	for _, c := range all {
		if c.Complete {
			last = c.Number
			if first == 0 {
				first = c.Number
			}
		}
	}
	return first, last
}

// TestUntil: the trace ends a while after the collection that is waited for, and
// has what is asked for before it.
func TestUntil(t *testing.T) {
	web := webBytes(t)
	all, _ := dotnettest.Collections(t, web)
	i := slices.IndexFunc(all, func(c *gc.Collection) bool { return c.Number == 60 })
	begin := slices.IndexFunc(all, func(c *gc.Collection) bool { return c.Start.Or(0) > all[i].Start.Or(0)-time.Second })

	f := dotnettest.NewRuntime(web[:len(web)/2], web[len(web)/2:])
	got, said := watching(context.Background(), t, f, "--until", "number=60", "--before", "1s", "--after", "50ms")
	first, last := numbers(got)
	if !f.Stopped() || first+2 < all[begin].Number || first > all[begin].Number || last < 60 {
		t.Errorf("collections %d to %d, from %d were asked for; stopped %t\n%s", first, last, all[begin].Number, f.Stopped(), said)
	}
	for _, want := range []string{
		"collecting from web 42 until number=60, to keep 1s before it and 50ms after it in ",
		"gctrail: collection 60 (gen ", " of web 42 met the condition: 1s before it and 50ms after it will be in ", "Pauses took", "$ gctrail ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
}

// TestUntilNot: if the condition is never met, the file has the most recent events.
func TestUntilNot(t *testing.T) {
	web := webBytes(t)
	f := dotnettest.NewRuntime(web, nil)
	f.Ends = true
	got, said := watching(context.Background(), t, f, "--until", "pause>1h", "--before", "1s")
	if first, last := numbers(got); first < 50 || last < 90 {
		t.Errorf("collections %d to %d", first, last)
	}
	if !strings.Contains(said, "pause>1h was never met: the file has the most recent events") {
		t.Error(said)
	}
}

// TestKeep: without a condition, a ring keeps the most recent events.
func TestKeep(t *testing.T) {
	web := webBytes(t)
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	f := dotnettest.NewRuntime(web[:len(web)-10], web[len(web)-10:])
	go func() {
		<-f.Began
		interrupt()
	}()
	got, said := watching(ctx, t, f, "--keep", "1500ms")
	if first, last := numbers(got); first < 40 || first > 80 || last < 90 {
		t.Errorf("collections %d to %d", first, last)
	}
	if !strings.Contains(said, "collecting from web 42, to keep the last 1.5s in ") || strings.Contains(said, "no room") {
		t.Error(said)
	}
}

// TestStoppingEvent: the options of dotnet-trace, with the names of both TraceEvent
// and the manifest.
func TestStoppingEvent(t *testing.T) {
	web := webBytes(t)
	for _, tt := range []struct {
		args []string
		last uint32 // collection that must be there
		said string
	}{
		{[]string{"GC/Start", "Count:30"}, 29, "with Count:30 of web 42 met the condition"},
		{[]string{"GCStart", "Count:30,ClrInstanceID:0"}, 29, "met the condition"},
		{[]string{"GCStart_V2"}, 0, "the event Microsoft-Windows-DotNETRuntime/GCStart_V2 of web 42 met"},
		{[]string{"GC/SuspendEEStart", "Reason:SuspendForGC,Count:20"}, 19, "met the condition"},
		{[]string{"GC/Start", "Number:30"}, 90, "can never occur: it has no field Number; its fields: ClientSequenceNumber, ClrInstanceID, Count"},
		{[]string{"GC/Start", "Count:4711"}, 90, "was never met"},
	} {
		f := dotnettest.NewRuntime(web[:len(web)-10], nil)
		f.Ends = true
		args := []string{"--stopping-event-provider-name", "Microsoft-Windows-DotNETRuntime", "--stopping-event-event-name", tt.args[0]}
		if len(tt.args) > 1 {
			args = append(args, "--stopping-event-payload-filter", tt.args[1])
		}
		got, said := watching(context.Background(), t, f, args...)
		if _, last := numbers(got); last < tt.last || !strings.Contains(said, tt.said) {
			t.Errorf("%v: up to collection %d\n%s", tt.args, last, said)
		}
	}
}

// TestPlan checks the meaning of the flags.
func TestPlan(t *testing.T) {
	const event = "--stopping-event-provider-name=Microsoft-Windows-DotNETRuntime"
	type limits = collect.Limits
	for _, tt := range []struct {
		args string
		want collect.Plan
	}{
		{"", collect.Plan{Keep: limits{Size: 1e9}, Files: 1}},
		{"--until gen=2", collect.Plan{Before: time.Minute, After: 10 * time.Second, Ring: true, Keep: limits{Time: 2 * time.Minute, Size: 1e9}, Files: 1}},
		{"--until gen=2 --before 5s --after 0s --repeat 3", collect.Plan{Before: 5 * time.Second, Ring: true, Keep: limits{Time: 65 * time.Second, Size: 1e9}, Files: 3}},
		{"--until gen=2 --keep 500MB", collect.Plan{After: 10 * time.Second, Ring: true, Keep: limits{Size: 500e6}, Files: 1}},
		{"--until gen=2 --keep 10m,2GB", collect.Plan{Before: 10 * time.Minute, After: 10 * time.Second, Ring: true, Keep: limits{Time: 11 * time.Minute, Size: 2e9}, Files: 1}},
		{"--keep 10m", collect.Plan{Before: 10 * time.Minute, Ring: true, Keep: limits{Time: 10 * time.Minute, Size: 1e9}, Files: 1}},
		{"--keep 1.5MiB", collect.Plan{Ring: true, Keep: limits{Size: 3 << 19}, Files: 1}},
		{event, collect.Plan{Keep: limits{Size: 1e9}, Files: 1}},
		{event + " --after 2s", collect.Plan{After: 2 * time.Second, Keep: limits{Size: 1e9}, Files: 1}},
		{event + " --before 2s", collect.Plan{Before: 2 * time.Second, Ring: true, Keep: limits{Time: 62 * time.Second, Size: 1e9}, Files: 1}},
	} {
		_, plan, _ := asked(t, strings.Fields(tt.args)...)
		got := *plan
		got.Until, got.Event = nil, nil
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.args, got, tt.want)
		}
	}
}

func TestSpanText(t *testing.T) {
	for want, got := range map[string]string{
		"1m":    spanText(time.Minute),
		"1h":    spanText(time.Hour),
		"1h30m": spanText(90 * time.Minute),
		"1m30s": spanText(90 * time.Second),
		"1.5s":  spanText(1500 * time.Millisecond),
		"0s":    spanText(0),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
