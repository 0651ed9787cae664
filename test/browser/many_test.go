package browser

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/html"
	"github.com/gctrail/gctrail/open"
)

// many is how many collections a page must show without effort.
const many = 100_000

// TestMany opens a page with 100,000 collections and uses it. How long that takes
// is reported, not judged: the machine may be busy.
func TestMany(t *testing.T) {
	page := manyCollections(t, many, 1)
	if len(page) > 6_000_000 {
		t.Errorf("the page has %d bytes, at most 6,000,000 are allowed", len(page))
	}
	t.Logf("%d collections take %d bytes, %.1f each", many, len(page), float64(len(page))/many)
	path := filepath.Join(t.TempDir(), "many.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	b := ownTab(t, 5*time.Minute, size{1280, 900})
	stop := b.trace()
	b.open("file://" + path)
	b.settle()
	b.report("open", true)
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"filter", func() {
			b.focus("#where")
			b.key("pause>20ms")
			b.wait(`document.querySelector(".status b").textContent !== "100,000"`)
		}},
		{"sort", func() { b.click(`.grid [role=columnheader]:nth-child(6) button`) }},
		{"scroll", func() {
			b.focus(".grid")
			for _, key := range []string{kb.End, kb.Home, kb.PageDown, kb.PageDown} {
				b.key(key)
			}
		}},
		{"brush", func() {
			x0, y0 := b.at("#chart-pauses .u-over", 0.2, 0.5)
			x1, _ := b.at("#chart-pauses .u-over", 0.6, 0.5)
			b.must(chromedp.Do(b.ctx, chromedp.DragAndDropXY(x0, y0, x1, y0)))
			b.wait(`document.querySelector("#from").value !== ""`)
		}},
		{"zoom", func() { b.click(".toolbar .buttons button:nth-child(1)") }},
		{"percentile", func() { b.click(".percentiles tbody tr:nth-child(3) button") }},
		{"details", func() {
			b.focus(".grid")
			b.key(kb.Enter)
			b.wait(`document.querySelector(".details")`)
			b.key(kb.Escape)
		}},
		{"reset", func() { b.click(".toolbar .buttons button:nth-child(3)") }},
	} {
		step.do()
		b.settle()
		b.report(step.name, false)
		if n := eval[int](b, `document.querySelectorAll(".grid .rows .row").length`); n > 60 {
			b.Errorf("%s: %d rows are in the page", step.name, n)
		}
	}
	tasks := stop()
	for _, task := range tasks[:min(len(tasks), 10)] {
		b.Logf("a task of %.0f ms, %.0f ms of CPU", task.Wall/1000, task.CPU/1000)
	}
	b.shoot("many")
	b.blameless("GET file://" + path)
}

// report logs the browser's measurements since the report before.
func (b *tab) report(what string, paint bool) {
	b.Helper()
	tasks := eval[[][2]float64](b, "longTasks.splice(0)")
	longest := 0.0
	for _, task := range tasks {
		longest = max(longest, task[1])
	}
	if paint {
		b.Logf("%s: first paint after %.0f ms, ready after %.0f ms", what,
			eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`),
			eval[float64](b, `performance.getEntriesByName("ready")[0]?.startTime ?? -1`))
	}
	b.Logf("%s: %d tasks of more than 50 ms, the longest %.0f ms %v", what, len(tasks), longest, tasks)
}

// manyCollections is a page of n collections: those of a real trace, again and again with other times
// and sizes, so many times as far apart.
func manyCollections(t *testing.T, n int, apart time.Duration) []byte {
	t.Helper()
	in, err := open.File(fixture("net10-wks-web-collect.nettrace.gz"), open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var model gc.Model
	var real []*gc.Collection
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		real = append(real, c)
	}
	random := rand.New(rand.NewPCG(1, 2))
	trace := &html.Trace{Name: "many.nettrace", Report: json.RawMessage(`{"verdict": "A page of many GCs.", "verdict_code": "no_verdict", "format": "nettrace",
		"processes": [], "lost": {"at": []}, "collected": {"providers": []}, "cannot_tell": [], "next": []}`), Start: time.Unix(1_700_000_000, 0)}
	var shift time.Duration
	for i := range n {
		c := *real[i%len(real)]
		if i > 0 && i%len(real) == 0 {
			shift += apart * in.Source.Info().Last
		}
		jitter := time.Duration(random.Int64N(int64(500 * time.Microsecond)))
		later := func(o gc.Opt[time.Duration]) gc.Opt[time.Duration] {
			if v, known := o.Get(); known {
				return gc.Some(v + shift)
			}
			return o
		}
		c.Number = uint32(i + 1)
		c.Start, c.End, c.PauseStart = later(c.Start), later(c.End), later(c.PauseStart)
		c.Pauses = slices.Clone(c.Pauses)
		for j := range c.Pauses {
			c.Pauses[j].Start += shift
			c.Pauses[j].Duration += jitter
		}
		c.Generations = slices.Clone(c.Generations)
		for j := range c.Generations {
			if after, known := c.Generations[j].After.Get(); known && after > 1<<20 {
				c.Generations[j].After = gc.Some(after + random.Int64N(1<<20)&^7)
			}
		}
		trace.Add(&c)
	}
	trace.Last = shift + in.Source.Info().Last
	var page bytes.Buffer
	if err := (&html.Page{Title: "many", Verdict: "A page of many GCs.", Traces: []*html.Trace{trace}}).Write(&page); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}
