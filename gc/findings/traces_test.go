package findings_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// ruleTraces has, for each rule, a real trace in which it fires and one in which it does
// not. A plus merges two of one machine.
var ruleTraces = map[string]struct{ finds, not string }{
	"R01": {"net21-win-x86-objver3.netperf.gz", web},
	"R02": {web, "net8-win-x64-gcevents.etl.zip"},
	"R03": {"net10-wks-background-nonconcurrent-collect.nettrace.gz", web},
	"R04": {"net21-win-x86-objver3.netperf.gz", web},
	"R05": {"net10-wks-stopped-web.nettrace.gz", web},
	"R10": {"net10-wks-gen0size-loh-collect.nettrace.gz", "net10-wks-pressure-collect.nettrace.gz"},
	"R11": {disturbed, web},
	"R12": {"net31-srv-uneven.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz"},
	"R13": {"net10-srv-web-1.nettrace.gz+net10-srv-web-2.nettrace.gz", "net10-srv-web-1.nettrace.gz"},
	"R14": {"net10-wks-sampler-web.nettrace.gz", web},
	"R16": {"net10-wks-throttled-collect.nettrace.gz", "net10-wks-crowded-collect.nettrace.gz"},
	"R17": {"net10-wks-crowded-collect.nettrace.gz", "net10-wks-own-threads-collect.nettrace.gz"},
	"R18": {"net10-wks-own-threads-collect.nettrace.gz", "net10-wks-throttled-collect.nettrace.gz"},
	"R15": {"coreclr1-srv-lttng.trace.zip", "net8-srv-background.nettrace.gz"},
	"R20": {"net10-wks-background-nonconcurrent-collect.nettrace.gz", "net10-wks-induced-collect.nettrace.gz"},
	"R21": {"net10-wks-induced-collect.nettrace.gz", "net10-wks-pressure-collect.nettrace.gz"},
	"R22": {"net10-wks-highmem-web-collect.nettrace.gz", "net10-wks-hardlimit-web-collect.nettrace.gz"},
	"R23": {"net10-wks-highmem-fragment.nettrace.gz", "net10-wks-fragment-collect.nettrace.gz"},
	"R24": {"net10-wks-pin-collect.nettrace.gz", "net10-wks-handles-collect.nettrace.gz"},
	"R25": {"net8-wks-waiting-loh.nettrace.gz", "net10-wks-gen0size-loh-collect.nettrace.gz"},
	"R27": {"net10-wks-uncollected-background.nettrace.gz", "net10-wks-growing-background.nettrace.gz"},
	"R28": {"net10-wks-growing-background.nettrace.gz", web},
	"R29": {"net10-wks-pin-collect.nettrace.gz", "net10-wks-handles-collect.nettrace.gz"},
	"R30": {"net8-srv-background.nettrace.gz", "net10-wks-growing-background.nettrace.gz"},
	"R31": {web, "net10-wks-fragment-collect.nettrace.gz"},
	"R32": {web, "net10-wks-handles-collect.nettrace.gz"},
	"R33": {web, "net10-wks-induced-collect.nettrace.gz"},
	"R40": {"net10-wks-pin-collect.nettrace.gz", web},
	"R41": {"net10-wks-fragment-collect.nettrace.gz", web},
	"R42": {"net10-wks-unfit-cache.nettrace.gz", "net10-wks-fit-cache.nettrace.gz"},
	"R43": {"net10-wks-conserve-fragment-collect.nettrace.gz", "net10-wks-fragment-collect.nettrace.gz"},
	"R44": {"net8-wks-conservative-web.nettrace.gz", "net10-wks-pin-collect.nettrace.gz"},
	"R45": {"net10-segments-loh.nettrace.gz", "net10-wks-gen0size-loh-collect.nettrace.gz"},
	"R46": {"net10-wks-poh.nettrace.gz", "net10-wks-pin-collect.nettrace.gz"},
	"R47": {"net10-wks-leak.nettrace.gz", web},
	"R48": {"net10-wks-leak-event.nettrace.gz", "net10-wks-cache-once.nettrace.gz"},
	"R90": {"net10-wks-requests.nettrace.gz", web},
	"R91": {"net10-wks-locks.nettrace.gz", "net10-wks-pool.nettrace.gz"},
	"R92": {"net10-wks-pool.nettrace.gz", "net10-wks-locks.nettrace.gz"},
	"R93": {"net10-wks-jit.nettrace.gz", "net10-wks-exceptions.nettrace.gz"},
	"R94": {"net10-wks-exceptions.nettrace.gz", "net10-wks-jit.nettrace.gz"},
	"R95": {"net10-wks-types.nettrace.gz", "net10-wks-locks.nettrace.gz"},
	"R50": {"net10-wks-handles-collect.nettrace.gz", web},
	"R51": {"net10-wks-finalizers-collect.nettrace.gz", web},
	"R52": {"net10-wks-pressure-collect.nettrace.gz", "net10-wks-finalizers-collect.nettrace.gz"},
	"R54": {"net10-wks-handles-collect.nettrace.gz", web},
	"R55": {"net8-srv-background.nettrace.gz", web},
	"R56": {"net10-wks-blocked-finalizer.nettrace.gz", "net10-wks-finalizers-collect.nettrace.gz"},
	"R57": {"net10-wks-batch.nettrace.gz", "net10-wks-background-nonconcurrent-collect.nettrace.gz"},
	"R58": {"net10-wks-nogc-regions.nettrace.gz", web},
	"R60": {"net10-wks-background-nonconcurrent-collect.nettrace.gz", web},
	"R61": {"net10-wks-hardlimit-web-collect.nettrace.gz", web},
	"R62": {"net8-wks-waiting-loh.nettrace.gz", "net10-wks-gen0size-loh-collect.nettrace.gz"},
	"R63": {"coreclr1-srv-lttng.trace.zip", web},
	"R64": {"net10-wks-oom-exceptions.nettrace.gz", "net10-wks-oom.nettrace.gz"},
	"R65": {"net10-wks-oom.nettrace.gz", "net10-wks-oom-exceptions.nettrace.gz"},
	"R70": {"net9-srv-datas-web-collect.nettrace.gz", web},
	"R71": {disturbed, "net9-srv-datas-web-collect.nettrace.gz"},
	"R72": {"net9-srv-datas-web-collect.nettrace.gz", web},
	"R74": {"net10-wks-capped-gen0size.nettrace.gz", "net10-wks-gen0size-loh-collect.nettrace.gz"},
	"R80": {"net30-win-x64-survival.nettrace.gz", web},
	"R81": {"net10-lossy-handles.nettrace.gz", web},
	"R83": {"net10-lossy-handles.nettrace.gz", web},
	"R84": {web, "net30-win-x64-survival.nettrace.gz"},
	"R85": {web, "net30-win-x64-survival.nettrace.gz"},
}

const (
	web       = "net10-wks-web-collect.nettrace.gz"
	disturbed = "net9-srv-datas-all.nettrace.gz" // by other programs on the machine
)

// TestRulesOnTraces holds each rule against real traces.
func TestRulesOnTraces(t *testing.T) {
	judged := make(map[string][]findings.Result)
	judge := func(name string) []findings.Finding {
		if judged[name] == nil {
			judged[name] = examine(t, strings.Split(name, "+")...)
			whole(t, name, judged[name][0].Findings)
		}
		return judged[name][0].Findings
	}
	for id, of := range ruleTraces {
		if find(judge(of.finds), id) == nil {
			t.Errorf("%s finds nothing in %s", id, of.finds)
		}
		if f := find(judge(of.not), id); f != nil {
			t.Errorf("%s finds in %s: %s", id, of.not, f.Description)
		}
	}
}

// TestEveryRuleIsTested checks that each rule has real traces.
func TestEveryRuleIsTested(t *testing.T) {
	for _, r := range findings.Rules() {
		if _, traced := ruleTraces[r.ID]; !traced {
			t.Errorf("%s has no test on a real trace", r.ID)
		}
		if r.Threshold == "" || r.Source == "" || r.Kind == "unknown" {
			t.Errorf("%s lacks something: %+v", r.ID, r)
		}
	}
}

// examine judges a trace of testdata, or several merged.
func examine(t *testing.T, names ...string) []findings.Result {
	t.Helper()
	var sources []trace.Source
	for _, name := range names {
		f, err := open.File(filepath.Join("../../testdata", name), open.Options{Want: wantsJoined, Head: gc.Head})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sources = append(sources, f.Source)
	}
	src := sources[0]
	if len(sources) > 1 {
		src = trace.Merge(sources...)
	}
	results, err := examineJoined(src)
	if err != nil || len(results) == 0 {
		t.Fatalf("%s: %d processes: %v", names, len(results), err)
	}
	return results
}

// TestCausesOfModes checks the findings on a program with a known cause: the first cause,
// the generation and the heap of the advice, and the settings that its runtime reads.
func TestCausesOfModes(t *testing.T) {
	for _, tt := range []struct {
		trace, cause string
		says         []string // in the findings
		not          []string
	}{
		{web, "R32", []string{"(reason AllocSmall)"}, []string{"GCgen0size"}},
		{
			"net10-wks-hardlimit-web-collect.nettrace.gz", "R61",
			[]string{"The heap may commit 88.1 MB (set by GCHeapHardLimit", "DOTNET_GCHeapHardLimit=0x7E00000"},
			[]string{"GCgen0size"},
		},
		{"net10-wks-oom.nettrace.gz", "", []string{"was the last attempt before an OutOfMemoryException: the program most likely died of it"}, []string{"DOTNET_GCHeapHardLimit=", "The program threw"}},
		{"net10-wks-oom-exceptions.nettrace.gz", "R64", []string{"The program threw OutOfMemoryException"}, []string{"DOTNET_GCHeapHardLimit="}},
		{"net10-wks-handles-collect.nettrace.gz", "R50", []string{"ConditionalWeakTable"}, nil},
		{"net10-wks-pin-collect.nettrace.gz", "", []string{"pinned object heap"}, []string{"GCLOHThreshold="}},
		{"net10-wks-gen0size-loh-collect.nettrace.gz", "R24", []string{"Check the sizes before raising GCLOHThreshold", "clears the memory of a new large array", "or no processor to run on. This trace does not show which."}, nil},
		{"net10-wks-pressure-collect.nettrace.gz", "R52", []string{"Such GCs come from GC.AddMemoryPressure", "gen2_too_small"}, []string{"GC.Collect induced"}},
		{"net10-wks-induced-collect.nettrace.gz", "R21", []string{"Start with R21: the program calls GC.Collect."}, []string{"GCgen0size"}},
		{"net10-wks-conserve-fragment-collect.nettrace.gz", "R43", []string{"than GCConserveMemory", "Lower GCConserveMemory or remove it"}, nil},
		{
			"net9-srv-datas-web-collect.nettrace.gz", "",
			[]string{"DOTNET_GCDynamicAdaptationMode=0x0", "it aims at 2 %", "DATAS runs these GCs", "DOTNET_GCConserveMemory=0x1"},
			[]string{"If GCConserveMemory is set", "DOTNET_GCConserveMemory=0x5", "DOTNET_GCgen0size"},
		},
		{"net31-srv-uneven.nettrace.gz", "", []string{"Try .NET 5 or later"}, []string{"GCConserveMemory"}},
		{"cures/knots-bad.nettrace.gz", "", []string{"longer than the mean of the heaps"}, []string{"Try .NET 5 or later"}},
		{"net30-win-x64-survival.nettrace.gz", "R54", []string{"Start with R54", "deep stacks and many threads"}, []string{"Shorten object lifetimes"}},
		{"net10-wks-blocked-finalizer.nettrace.gz", "R56", []string{"Start with R56", "had not finished"}, []string{"Dispose"}},
		{"net10-wks-batch.nettrace.gz", "R57", []string{"latency mode Batch"}, []string{"Find out why gen 2 is not collected in the background"}},
		{"net10-wks-nogc-regions.nettrace.gz", "R58", []string{"22 no-GC regions"}, []string{"GC.Collect", "Keep fewer objects alive"}},
	} {
		r := examine(t, tt.trace)[0]
		var all strings.Builder
		first := ""
		for _, f := range r.Findings {
			all.WriteString(f.Description + "\n" + strings.Join(f.Advice, "\n") + "\n")
			for _, s := range f.Settings {
				all.WriteString(s.Variable + "=" + s.Value + "\n")
			}
			if first == "" && strings.Contains(r.Verdict, f.Title) {
				first = f.ID
			}
		}
		if tt.cause != "" && first != tt.cause {
			t.Errorf("%s: the verdict names %s, want %s: %s", tt.trace, first, tt.cause, r.Verdict)
		}
		for _, want := range tt.says {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s: nothing says %q:\n%s", tt.trace, want, &all)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(all.String(), not) {
				t.Errorf("%s: something says %q:\n%s", tt.trace, not, &all)
			}
		}
	}
}
