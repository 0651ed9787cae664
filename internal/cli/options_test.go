package cli

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/internal/collect"
	"github.com/gctrail/gctrail/internal/convert"
	"github.com/gctrail/gctrail/internal/fleet"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/text"
)

// TestListsRunWithoutFlags: a list with options prints the same as its command with flags, and
// refuses contradictory options.
func TestListsRunWithoutFlags(t *testing.T) {
	const trace = "../../testdata/net10-wks-stacks.nettrace.gz"
	allocs, handles, heap, joins, pauses, phases := newAllocsOptions(), newHandlesOptions(), newHeapOptions(), newJoinsOptions(), newPausesOptions(), newPhasesOptions()
	objects := newObjectsOptions()
	objects.by.value, objects.types = "dominator", "*e"
	pins, finalizers, gcs := newPinsOptions(), newFinalizersOptions(), newGCsOptions()
	allocs.by.value, allocs.top = "type,stack", 2
	heap.perHeap = true
	joins.tunings = true
	pauses.tables.values = []string{windowTable}
	phases.blocking, phases.sort = true, "pause_ms"
	gcs.columns = wordList{"number", "pause"}
	for _, tt := range []struct {
		listing *listing
		opts    options
		flags   string
	}{
		{&allocs.listing, allocs, "allocs --by type,stack --top 2"},
		{&handles.listing, handles, "handles"},
		{&heap.listing, heap, "heap --per-heap"},
		{&joins.listing, joins, "joins --tunings"},
		{&pauses.listing, pauses, "pauses --show windows"},
		{&phases.listing, phases, "phases --blocking --sort pause_ms"},
		{&pins.listing, pins, "pins"},
		{&objects.listing, objects, "objects --by dominator --type *e"},
		{&finalizers.listing, finalizers, "finalizers"},
		{&gcs.listing, gcs, "gcs --columns number,pause"},
	} {
		var out, talk bytes.Buffer
		std := &stdio{out: &out, err: text.NewPrinter(&talk)}
		tt.listing.files, tt.listing.format.value = []string{trace}, list.CSV
		if err := cmp.Or(tt.opts.conflict(), tt.opts.run(t.Context(), std)); err != nil {
			t.Fatalf("%s: %v", tt.flags, err)
		}
		want, wantTalk, code := on(t, 0, append(strings.Fields(tt.flags), "--format", "csv", trace)...)
		if code != exitDone || want != out.String() || wantTalk != talk.String() {
			t.Errorf("%s: exit %d; with options:\n%s%s\nwith flags:\n%s%s", tt.flags, code, out.String(), talk.String(), want, wantTalk)
		}

		tt.listing.files, tt.listing.Process = []string{"-"}, "web"
		if err := tt.opts.conflict(); err == nil || !strings.Contains(err.Error(), "read twice") {
			t.Errorf("%s: a process of standard input: %v", tt.flags, err)
		}
	}
}

// TestConflictsWithoutFlags: options that exclude each other are refused before anything is
// read or started, without flags too.
func TestConflictsWithoutFlags(t *testing.T) {
	collecting := func(change func(*collectOptions)) *collectOptions {
		o := newCollectOptions()
		o.dash, o.PIDs = -1, []int{1}
		change(o)
		return o
	}
	for _, tt := range []struct {
		opts options
		want string // in the error; empty for none
	}{
		{collecting(func(*collectOptions) {}), ""},
		{collecting(func(o *collectOptions) { o.Names = collect.Names{"web"} }), "-p and -n"},
		{collecting(func(o *collectOptions) { o.dash, o.args = 0, []string{"app"} }), "with a command"},
		{collecting(func(o *collectOptions) { o.etw, o.output = true, "-" }), "--etw cannot write to standard output"},
		{collecting(func(o *collectOptions) { o.lttng, o.given = true, givenFlags{"keep": true} }), "--keep cannot be used with LTTng"},
		{&runOptions{repeat: 1}, "no command"},
		{&runOptions{repeat: 1, command: []string{"app"}}, ""},
		{&runOptions{repeat: maxRepeat + 1, command: []string{"app"}}, "--repeat must be from 1"},
		{&runOptions{repeat: 1, command: []string{"app"}, work: "("}, "--work"},
		{newTryOptions(), "no command"},
		{&tryOptions{command: []string{"app"}, sets: []string{"GCgen0size=64M,gcServer=1"}}, ""},
		{&tryOptions{command: []string{"app"}, sets: []string{"GCgen0size"}}, "write NAME=VALUE"},
		{&tryOptions{command: []string{"app"}, sets: []string{"gcServer=1", "DOTNET_gcServer=1"}}, "gcServer=1 is given twice"},
		{&tryOptions{command: []string{"app"}, runtimes: []string{"testdata"}}, "is no folder of a runtime"},
		{&tryOptions{command: []string{"app"}, work: "x"}, "--work"},
		{&tryOptions{command: []string{"app"}, ready: "x"}, "--ready needs --load"},
		{&diffOptions{dash: -1, args: []string{"a", "b"}}, ""},
		{&diffOptions{dash: -1, args: []string{"a"}}, "expected two traces"},
		{&diffOptions{dash: 0, args: []string{"a"}}, "on one side"},
		{&convertOptions{output: "a.csv", files: []string{"a"}}, ""},
		{&convertOptions{output: "a.csv", files: []string{"a", "b"}}, "2 traces into one file"},
		{&convertOptions{output: "a.csv", files: []string{"a"}, redaction: redaction{convert.Redaction{On: true}}}, ""},
		{&convertOptions{output: "a.md", files: []string{"a"}, redaction: redaction{convert.Redaction{On: true}}}, "is not for the report"},
		{&convertOptions{output: "a.csv", files: []string{"a"}, redaction: redaction{convert.Redaction{RedactOptions: convert.RedactOptions{KeepSystem: true}}}}, "needs --redact"},
		{&checkOptions{}, "--budget or --init"},
		{&topOptions{Target: collect.Target{PIDs: []int{1}, Names: collect.Names{"web"}}}, "-p and -n"},
		{&serveOptions{listen: ":80"}, "needs --token-file"},
		{&fleetTopOptions{by: wordList{"nope"}}, "unknown column"},
		{&fleetCompareOptions{processes: 1, sides: []string{"a"}}, "expected two selections"},
		{&fleetSchemaOptions{schema: fleet.Schema{Days: -1}}, "--days is negative"},
		{&fleetQueryOptions{}, "expected one query"},
	} {
		err := tt.opts.conflict()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.opts, err, tt.want)
		}
	}
}
