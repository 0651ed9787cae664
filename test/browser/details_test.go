package browser

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/stats"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/open"
)

// TestDetails: the details of a GC are what package gc says of it, in every chunk of
// them, for one heap and for several.
func TestDetails(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"net10-wks-induced-collect.nettrace.gz", "net9-srv-datas-web-collect.nettrace.gz", "net10-killed-web.nettrace.gz"} {
		t.Run(name, func(t *testing.T) {
			in, err := open.File(fixture(name), open.Options{Want: gc.Wants})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			model := gc.Model{PerHeap: true}
			var all []*gc.Collection
			for c, err := range model.Collections(in.Source) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, c)
			}
			b := newTab(t, size{1280, 900})
			b.open(pageOf(t, fixture(name)))
			for i := 0; i < len(all); i += 1 + len(all)/12 {
				c := all[i]
				eval[bool](b, fmt.Sprintf(`(() => { location.hash = "gc=%d"; return true; })()`, i))
				b.wait(fmt.Sprintf(`document.querySelector(".details h2")?.textContent === "GC %d" && /GC handles/.test(document.querySelector(".details").textContent)`, c.Number))
				rows := map[string]bool{}
				for _, row := range eval[[]string](b, `[...document.querySelectorAll(".details tr")].map((r) => [...r.cells].map((c) => c.textContent).join("|"))`) {
					rows[row] = true
				}
				for _, want := range shown(c) {
					if !rows[want] {
						t.Errorf("GC %d: no row %s in %q", c.Number, want, slices.Sorted(maps.Keys(rows)))
					}
				}
			}
		})
	}
}

// TestFragmentIsFollowed: a fragment that is set while an earlier state waits to be written to
// the URL is followed, and not overwritten.
func TestFragmentIsFollowed(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: keepSaves}))
	url := pageOf(t, fixture("net10-killed-web.nettrace.gz"))
	b.open(url)
	eval[bool](b, `(() => { location.hash = "gc=1"; return true; })()`)
	b.wait(`document.querySelector(".details h2") && saves.length > 0`)
	first := eval[string](b, `document.querySelector(".details h2").textContent`)
	eval[bool](b, `(() => { location.hash = "gc=5"; saves.at(-1)(); return true; })()`)
	b.wait(fmt.Sprintf(`document.querySelector(".details h2").textContent !== %q`, first))
	if got := eval[string](b, `(() => { saves.at(-1)(); return location.hash; })()`); got != "#gc=5" {
		b.Errorf("the URL has %s", got)
	}
	b.blameless("GET " + url)
}

// keepSaves keeps the functions by which the page writes its state to the URL, for the test to
// call.
const keepSaves = `
	window.saves = [];
	const start = window.setTimeout;
	window.setTimeout = (f, ms, ...more) => ms === 200 ? saves.push(f) : start.call(window, f, ms, ...more);
`

// shown are rows that the details of a collection have.
func shown(c *gc.Collection) []string {
	counted := func(o gc.Opt[int64]) string { return value(o, units.Count[int64]) }
	rows := []string{"GC handles|" + counted(c.Handles), "sync blocks|" + counted(c.SyncBlocks)}
	if part, share, timed := stats.Mostly(c); timed {
		rows = append(rows, fmt.Sprintf("mostly|%v %s", part, units.Percent(float64(int64(share*100+0.5))/100)))
	} else {
		rows = append(rows, "mostly|-")
	}
	for i := range c.Pauses {
		p := &c.Pauses[i]
		restart := value(p.Restart, micros)
		rows = append(rows, strings.Join([]string{p.Kind.String(), strconv.FormatFloat(p.Start.Round(time.Millisecond).Seconds(), 'f', 3, 64) + " s", micros(p.Duration), value(p.Suspend, micros), restart}, "|"))
	}
	names := []string{"gen 0", "gen 1", "gen 2", "LOH", "POH"}
	for i := range c.Generations {
		g := &c.Generations[i]
		survival := value(g.Survival, func(v float64) string { return units.Percent(float64(int64(v*100+0.5)) / 100) })
		rows = append(rows, strings.Join([]string{
			names[i], units.Bytes(g.Before), value(g.After, units.Bytes), units.Bytes(g.In), units.Bytes(g.Out),
			survival, value(g.Fragmentation, units.Bytes), units.Bytes(g.Budget), value(g.Pinned, units.Bytes),
		}, "|"))
	}
	longest, sums, bytes := map[clr.RootType]time.Duration{}, map[clr.RootType]time.Duration{}, map[clr.RootType]gc.Opt[int64]{}
	heaps, marking := map[uint32]bool{}, map[uint32]time.Duration{}
	for _, m := range c.Marks {
		d := m.Duration.Round(time.Microsecond)
		heaps[m.Heap] = true
		marking[m.Heap] += d
		longest[m.Root] = max(longest[m.Root], d)
		if of, seen := bytes[m.Root]; !seen {
			bytes[m.Root] = m.Bytes
		} else if of.Known() && m.Bytes.Known() {
			bytes[m.Root] = gc.Some(of.Or(0) + m.Bytes.Or(0))
		} else {
			bytes[m.Root] = gc.Opt[int64]{}
		}
		sums[m.Root] += d
	}
	for root, sum := range sums {
		row := []string{root.String(), micros(sum)}
		if len(heaps) > 1 {
			row = append(row, micros(longest[root]))
		}
		rows = append(rows, strings.Join(append(row, value(bytes[root], units.Bytes)), "|"))
	}
	if len(c.PerHeap) > 1 {
		for _, h := range c.PerHeap {
			var before, after, out int64
			known := true
			for _, g := range h.Generations {
				before, out, after, known = before+g.Before, out+g.Out, after+g.After.Or(0), known && g.After.Known()
			}
			size := "-"
			if known {
				size = units.Bytes(after)
			}
			of := "-"
			if heaps[h.Heap] {
				of = micros(marking[h.Heap])
			}
			rows = append(rows, strings.Join([]string{strconv.FormatUint(uint64(h.Heap), 10), units.Bytes(before), size, units.Bytes(out), of}, "|"))
		}
	}
	return rows
}

func micros(d time.Duration) string {
	text := units.Duration(d.Round(time.Microsecond))
	if number, is := strings.CutSuffix(text, " µs"); is { // the page has whole ones
		if whole, _, some := strings.Cut(number, "."); some {
			return whole + " µs"
		}
	}
	return text
}

func value[T any](o gc.Opt[T], text func(T) string) string {
	v, known := o.Get()
	if !known {
		return "-"
	}
	return text(v)
}
