package cli

import (
	"strings"
	"testing"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc/alloc"
	"github.com/gctrail/gctrail/gc/compare"
	"github.com/gctrail/gctrail/gc/figure"
	"github.com/gctrail/gctrail/gc/findings"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/comparison"
	"github.com/gctrail/gctrail/internal/list"
	"github.com/gctrail/gctrail/internal/report"
	"github.com/gctrail/gctrail/internal/trial"
	"github.com/gctrail/gctrail/internal/tui"
)

// TestEveryWordIsExplained walks the words of screens, flags and files: --explain
// knows each.
func TestEveryWordIsExplained(t *testing.T) {
	words := map[string]string{}
	add := func(where string, all ...string) {
		for _, w := range all {
			if w != "" {
				words[w] = where
			}
		}
	}
	for _, c := range figure.All() {
		add("gcs --columns", c.Key, c.Heading)
	}
	for _, f := range figure.Conditions() {
		add("--until", f.Until.Word)
	}
	for _, r := range findings.Rules() {
		add("findings", r.ID)
	}
	for _, c := range processColumns {
		add("ps", c.Heading)
	}
	for i := range logColumns(fullTime) {
		add("top --plain", logColumns(fullTime)[i].Heading)
	}
	add("top", tui.Headings()...)
	add("--reason", reasons()...)
	for bit := range 32 {
		for _, name := range clr.CondemnReasons1(1 << bit).Names() {
			if !strings.HasPrefix(name, "0x") {
				add("condemned", name)
			}
		}
	}
	add("--kind", "blocking", "background", "foreground")
	add("--gen", "gen0", "gen1", "gen2", "gen 2", "LOH", "POH")
	add("screens", "time in GC", "% time in GC", "% time in gc", "% TIME IN GC", "GC", "free space", "budget")
	addFields(add, "heap", heapFields(false))
	addFields(add, "heap --per-heap", heapFields(true))
	addFields(add, "pins", pinFields)
	for by := range heap.Groupings() {
		addFields(add, "objects", objectFields(heap.Grouping(by), ""))
	}
	addFields(add, "objects --root", objectFields(heap.ByRoot, heap.RootDependent))
	for _, lists := range freeLists {
		addFields(add, "objects --free", freeFields(lists))
	}
	addFields(add, "objects --tree", treeFields(false, ""))
	addFields(add, "finalizers", finalizerFields)
	addFields(add, "requests", spanFields)
	addFields(add, "requests --by route", routeFields)
	addFields(add, "allocs", (&allocSection{}).fields(alloc.ByType|alloc.ByMethod|alloc.ByStack|alloc.ByHeap))
	addFields(add, "joins", joinFields(true))
	addFields(add, "joins --tunings", tuningFields())
	addFields(add, "phases", phaseFields())
	addFields(add, "pauses", percentileFields)
	addFields(add, "pauses --windows", windowFields)
	addFields(add, "pauses --bottlenecks", bottleneckFields)
	addFields(add, "gcs --per-heap", perHeapFields())
	add("gcs --metrics", "metric", "value", "unit")
	add("diff and trend", comparison.Headings()...)
	add("diff", "changed", "same", "cannot tell")
	for _, m := range compare.Metrics() {
		add("diff and trend", m.Name, m.Text)
	}
	add("try", trial.Headings()...)
	add("try", "better", "worse")
	for _, m := range trial.Metrics() {
		add("try", m.Name, m.Text)
	}
	for key, words := range whatIfWords {
		add("what-if", key, words)
	}
	addFields(add, "handles", (&handleSection{}).fields(true))
	for word, where := range words {
		if len(report.Definitions(word)) == 0 {
			t.Errorf("%s: %q is not explained", where, word)
		}
	}
}

func addFields[R any](add func(string, ...string), where string, fields []list.Field[R]) {
	for i := range fields {
		add(where, fields[i].Name, fields[i].Heading)
	}
}

// TestColumnWords: --columns takes the words of --until, of headings and of
// --explain.
func TestColumnWords(t *testing.T) {
	for _, f := range figure.Conditions() {
		if f.Only == figure.InConditions {
			continue
		}
		if _, err := columnCalled(f.Until.Word); err != nil {
			t.Error(err)
		}
	}
	for _, d := range figure.InList() {
		for _, name := range []string{d.Key, d.Heading} {
			if c, err := columnCalled(name); err != nil || c.Key != d.Key {
				t.Errorf("%q is %q, want %q: %v", name, c.Key, d.Key, err)
			}
		}
	}
	for name, want := range map[string]string{"memory load": "memory_load_pct", "since last": "since_last_ms", "gen2 after MB": "gen2_after_bytes", "PAUSE": "pause_ms"} {
		if c, err := columnCalled(name); err != nil || c.Key != want {
			t.Errorf("%q is %q, want %q: %v", name, c.Key, want, err)
		}
	}
	if _, err := columnCalled("nonsense"); err == nil || err.Error() != `unknown column "nonsense"` {
		t.Error(err)
	}
}
