//go:build linux

package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gctrail/gctrail/internal/cli"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/extent"
)

// TestMain runs gctrail instead of the tests if labRun started the test binary for that.
func TestMain(m *testing.M) {
	if os.Getenv("GCTRAIL_TEST_MAIN") != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A labRow is a program whose trouble is known from its source, with patterns for its
// report on any machine, quiet or busy. Patterns are regular expressions that ignore case,
// unless they begin with (?-i).
type labRow struct {
	mode, arg string
	env       []string
	profile   string
	why       string   // the program's trouble
	says      []string // patterns that the report has
	never     []string // patterns that it must not have
	lead      []string // patterns, one of which is in the verdict, or in the first finding that names a cause
	deaf      bool     // it does not end by itself, because its finalizer never returns
	uncounted bool     // it takes numbers of collections without events
}

// fixedHeaps keeps the number of heaps: GC.GetTotalAllocatedBytes leaves out what was
// allocated on a heap that DATAS has taken away, until the heap comes back.
const fixedHeaps = "DOTNET_GCDynamicAdaptationMode=0"

// innocent is the claim that may become true of a starved program, whose pauses are within
// budget in the longer run that it is given.
const innocent = `the GC is innocent`

// does maps claims to the modes of the programs for which they are true.
var does = map[string][]string{
	`calls GC\.Collect\b`:          {"libcollect"},
	`no.?GC region`:                {"nogc"},
	`(?-i)\bLowLatency\b`:          {"lowlat"},
	`(?-i)\bSustainedLowLatency\b`: {"sustained", "lowlat"},
	`(?-i)latency mode (is|was) Batch|LatencyMode\s*=\s*Batch`: {"batch"},
	`finalizer.{0,80}(blocked|blocks|not returned|stuck)`:      {"finblock"},
	`dependent handles take`:                                   {"cwt"},
	`runaway recursion`:                                        {"deep"},
	`GC\.AddMemoryPressure`:                                    {"memp"},
	`GCDTargetTCP=`:                                            {},
	`OutOfMemoryException was thrown|ended in an OutOfMemory`:  {"cache"},
	`(POH|pinned object heap).{0,80}(is|are) free`:             {"poh"},
	`If GCConserveMemory is set`:                               {},
	`mark stack (overflows|overflowed [1-9])`:                  {},
	innocent:                                 {"burst", "leak", "starve", "evleak", "weak", "lohfrag"},
	`\b1 to 1 heaps|\b1 gen 0 GCs|\bNaN\b`:   {},
	`clears the memory of a new large array`: {"bigarr", "cdict", "concat", "lohfrag", "mix", "poolmiss"},
	`(?-i)Find out why gen 2 is not collected in the background`: {},
}

var labRows = []labRow{
	{
		mode: "async", why: "half of what gen 0 allocates survives and dies in gen 1: async state that lives for a tenth of a second",
		lead: []string{`survive`}, never: []string{`Reduce the number of gen 2 GCs`},
	},
	{
		mode: "batch", why: "GCSettings.LatencyMode = Batch: no background GCs",
		says: []string{
			`(?-i)\bBatch\b`,
		},
	},
	{
		mode: "bigarr", why: "an object[] of 5,000,000 elements in gen 2 gets new objects, so that gen 0 GCs scan its cards",
		lead: []string{`old(er)? objects`},
	},
	{mode: "burst", why: "it keeps 400,000 arrays and drops them all, again and again"},
	{mode: "cache", why: "a dictionary's 200,000 arrays are replaced at random", lead: []string{`survive`, `old objects`}},
	{
		mode: "cache", env: []string{"DOTNET_GCHeapHardLimit=0xC000000"}, why: "the same under a hard limit of 201 MB, which it fills",
		says: []string{`limit`},
	},
	{mode: "cdict", why: "tables of dictionaries grow: the LOH is theirs", lead: []string{`survive`, `large`, `older objects`}},
	{
		mode: "concat", why: "string += up to 57 kB: all of the LOH is System.String",
		never: []string{
			`Free GC handles`,
			`large arrays \(85,000`,
			`trigger gen 2 GCs: .{0,40}arrays`,
		},
	},
	{
		mode: "concat", profile: "gc-verbose", why: "string += up to 57 kB: all of the LOH is System.String",
		says: []string{`StringBuilder|string`}, never: []string{
			`Free GC handles`,
			`large arrays \(85,000`,
		},
	},
	{mode: "cpu", why: "it computes, and allocates nearly nothing", never: []string{`is a problem`}},
	{
		mode: "cwt", why: "400,000 dependent handles (ConditionalWeakTable); a fast machine makes them all during start-up, 1.4 GB in a second, and it is quiet after that",
		lead: []string{`dependent handle`, `within budget after start-up`, `allocates fast`},
	},
	{
		mode: "deep", why: "a stack of 20,000 frames is marked and relocated",
		lead: []string{`stack`}, never: []string{`dominate the pauses, and little survives`},
	},
	{mode: "evleak", why: "thousands of GC handles are allocated and never freed", says: []string{`handles`}},
	{
		mode: "finblock", why: "a finalizer sleeps for ever", deaf: true,
		says: []string{`finalizer.{0,80}(blocked|blocks|not finished|not returned|stuck)`}, never: []string{`Dispose these objects`},
	},
	{mode: "leak", why: "it keeps 20,000 small arrays a second: little, with short pauses"},
	{mode: "libcollect", why: "GC.Collect ten times a second, with 100 MB live", says: []string{`calls GC\.Collect`}},
	{
		mode: "list", env: []string{"DOTNET_gcServer=1", fixedHeaps, "DOTNET_GCgen0size=0x4000000"},
		why: "one root holds a linked list of 144 MB; the stacks are shallow",
	},
	{mode: "lohfrag", why: "large arrays of growing sizes, of which 120 are kept"},
	{
		mode: "lowlat", why: "GCSettings.LatencyMode = LowLatency holds gen 2 GCs back",
		says: []string{`(?-i)\bLowLatency\b`}, never: []string{`sees no need to collect gen 2`, `nothing to do`},
	},
	{mode: "memp", why: "GC.AddMemoryPressure without an end", says: []string{`AddMemoryPressure`}},
	{mode: "mix", why: "objects, arrays, strings and large arrays of known sizes"},
	{
		mode: "nogc", uncounted: true, why: "TryStartNoGCRegion again and again; 0.3 MB live",
		says: []string{`no.?GC region|NoGCRegion`}, never: []string{`Keep fewer objects alive`, `GCConserveMemory=5`},
	},
	{mode: "pinio", why: "3,000 buffers of 4 kB are pinned", lead: []string{`pin`}},
	{
		mode: "poh", why: "4,000 pinned arrays of random sizes are replaced: most of the POH is free",
		says: []string{`(pinned object heap|POH).{0,120}(free|fragment)`},
	},
	{
		mode: "poolmiss", env: []string{"DOTNET_gcServer=1", fixedHeaps}, why: "ArrayPool.Rent without Return",
		lead: []string{`large`, `LOH`},
	},
	{
		mode: "slowsus", why: "a thread in memset cannot be suspended",
		lead: []string{`suspend`}, never: []string{
			`dominate the pauses, and little survives`,
		},
	},
	{mode: "sustained", why: "GCSettings.LatencyMode = SustainedLowLatency, 100 MB live"},
	{mode: "timers", why: "timers are made and never disposed"},
	{
		mode: "weak", why: "two million weak handles",
		never: []string{`Start with R33`},
	},
}

// TestLab runs programs whose trouble is known, a third of them in each turn, collects from them,
// and compares their reports with their source and their own account.
func TestLab(t *testing.T) {
	command := dotnettest.Lab(t)
	for i, row := range labRows {
		if !extent.Due(i, 3) {
			continue
		}
		name := strings.Join(append([]string{row.mode + row.arg + row.profile}, row.env...), ",")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.hold(t, command)
		})
	}
}

// labSeconds are how long a program runs: first briefly, and longer if it got too little of
// the processors to show its trouble.
var labSeconds = []string{"4", "16"}

func (row *labRow) hold(t *testing.T, command []string) {
	ctx, cancel := context.WithTimeout(t.Context(), dotnettest.Patience)
	defer cancel()
	var truth *labTruth
	var text string
	var r labReport
	longer := false
	for i, seconds := range labSeconds {
		longer = i > 0
		truth, text, r = row.report(ctx, t, command, seconds)
		if t.Failed() {
			return
		}
		if !r.starved() {
			break
		}
	}
	row.holdText(t, text, longer)
	if len(r.Processes) == 0 {
		if truth.Collections > 0 {
			t.Errorf("no collections, the program counted %d", truth.Collections)
		}
		return
	}
	row.holdLead(t, &r, longer)
	row.holdTotals(t, &r, truth)
	if t.Failed() {
		t.Logf("in truth: %s; %+v\n%s", row.why, *truth, text)
	}
}

// report runs the program and returns its account of itself, and the report of its trace as
// text and as data.
func (row *labRow) report(ctx context.Context, t *testing.T, command []string, seconds string) (truth *labTruth, text string, r labReport) {
	t.Helper()
	path := filepath.Join(t.ArtifactDir(), "lab.nettrace")
	args := []string{"collect", "-o", path}
	if row.profile != "" {
		args = append(args, "--profile", row.profile)
	}
	args = append(append(append(args, "--"), command...), row.mode, seconds)
	if row.arg != "" {
		args = append(args, row.arg)
	}
	truth = row.collect(ctx, t, args)
	if t.Failed() {
		return truth, "", r
	}
	text = strings.Join(strings.Fields(strings.ReplaceAll(run(ctx, t, "report", "--no-pager", path), path, "FILE")), " ")
	if err := json.Unmarshal([]byte(run(ctx, t, "report", "--format", "json", "--full", path)), &r); err != nil || len(r.Processes) > 1 {
		t.Fatalf("%d processes, %v", len(r.Processes), err)
	}
	return truth, text, r
}

// A labTruth is the program's account of itself.
type labTruth struct {
	Collections int   `json:"gen0"`
	Allocated   int64 `json:"allocated"`
}

// labReport is the part of the report as JSON that the tests check.
type labReport struct {
	Processes []struct {
		Verdict  string
		Findings []struct{ ID, Title, Says string }
		Totals   struct {
			Collections  int    `json:"count"`
			Allocated    *int64 `json:"allocated_bytes"`
			AllocatedIs  string `json:"allocated_is"`
			AllocatedMax *int64 `json:"allocated_max_bytes"`
		}
		Processors struct {
			Run  *float64 `json:"thread_run_ms"`
			Wait *float64 `json:"thread_wait_ms"`
		}
	}
}

// starved reports whether the program's threads ran for less than a second, because they
// waited for a processor most of the time.
func (r *labReport) starved() bool {
	if len(r.Processes) == 0 {
		return false
	}
	p := &r.Processes[0].Processors
	return p.Run != nil && p.Wait != nil && *p.Run < 1000 && *p.Wait > *p.Run
}

// gctrail returns a command of gctrail.
func gctrail(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GCTRAIL_TEST_MAIN=1", "COLUMNS=120")
	return cmd
}

func run(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	cmd := gctrail(ctx, args...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, talk.String())
	}
	return string(out)
}

// collect runs the program, collects from it, and returns its account.
func (row *labRow) collect(ctx context.Context, t *testing.T, args []string) *labTruth {
	t.Helper()
	cmd := gctrail(ctx, args...)
	cmd.Env = append(cmd.Env, row.env...)
	var out, talk dotnettest.Output
	cmd.Stdout, cmd.Stderr = &out, &talk
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if row.deaf {
		// Its trace has ended when there is a summary; the runtime waits for the finalizer.
		talk.Await(ctx, func(said string) bool { return strings.Contains(said, "$ gctrail ") })
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	err := cmd.Wait()
	var truth labTruth
	if bad := json.Unmarshal([]byte(out.String()), &truth); bad != nil || err != nil && !row.deaf {
		t.Errorf("%v, %v: %s%s", err, bad, out.String(), talk.String())
	}
	return &truth
}

// matches finds a pattern without regard to case, with the text around it.
func matches(pattern, text string) string {
	return regexp.MustCompile(`(?i).{0,60}(?:` + pattern + `).{0,60}`).FindString(text)
}

func (row *labRow) holdText(t *testing.T, report string, longer bool) {
	t.Helper()
	for _, want := range row.says {
		if matches(want, report) == "" {
			t.Errorf("the report does not say %q", want)
		}
	}
	never := row.never
	for claim, modes := range does {
		if !slices.Contains(modes, row.mode) && !(longer && claim == innocent) {
			never = append(never[:len(never):len(never)], claim)
		}
	}
	for _, claim := range never {
		if found := matches(claim, report); found != "" {
			t.Errorf("the report says %q", found)
		}
	}
}

// holdLead checks the verdict and the first finding that names a cause.
func (row *labRow) holdLead(t *testing.T, r *labReport, longer bool) {
	t.Helper()
	p := &r.Processes[0]
	if len(row.lead) == 0 || longer && matches(innocent, p.Verdict) != "" {
		return
	}
	lead, busy := p.Verdict, false
	for _, f := range p.Findings {
		if f.ID == "R02" || f.ID == "R03" { // symptoms
			continue
		}
		lead += " " + f.Title + " " + f.Says
		// A lack of processors leads on a busy machine, and changes the order of the others.
		busy = busy || matches(`processors|throttled`, f.Title) != ""
		if !busy {
			break
		}
	}
	if matches(strings.Join(row.lead, "|"), lead) == "" {
		t.Errorf("the report leads with %q", lead)
	}
}

// holdTotals compares counts, and allocated bytes: exact within 0.5 %, or marked, with
// the truth between their bounds. A program that prints its account allocates, and may
// collect once more after it has counted.
func (row *labRow) holdTotals(t *testing.T, r *labReport, truth *labTruth) {
	t.Helper()
	totals := r.Processes[0].Totals
	if more := totals.Collections - truth.Collections; !row.uncounted && more != 0 && more != 1 {
		t.Errorf("%d collections, the program counted %d", totals.Collections, truth.Collections)
	}
	if totals.Allocated == nil {
		return
	}
	off := float64(*totals.Allocated)/float64(truth.Allocated) - 1
	switch totals.AllocatedIs {
	case "exact":
		if off < -0.005 || off > 0.005 {
			t.Errorf("%d bytes allocated are called exact, %+.2f %% of %d", *totals.Allocated, 100*off, truth.Allocated)
		}
	case "estimate":
		if off < -0.05 || off > 0.05 {
			t.Errorf("%d bytes allocated are an estimate, %+.2f %% of %d", *totals.Allocated, 100*off, truth.Allocated)
		}
	case "lower_bound":
		if off > 0.005 {
			t.Errorf("%d bytes allocated are a lower bound, %+.2f %% of %d", *totals.Allocated, 100*off, truth.Allocated)
		}
	default:
		t.Errorf("allocated bytes are %q", totals.AllocatedIs)
	}
	if most := totals.AllocatedMax; most != nil && float64(*most) < 0.995*float64(truth.Allocated) {
		t.Errorf("at most %d bytes allocated, the program counted %d", *most, truth.Allocated)
	}
}
