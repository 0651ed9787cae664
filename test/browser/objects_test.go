package browser

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/internal/units"
)

// leak has three snapshots of a heap that grows.
const leak = "net10-wks-leak.nettrace.gz"

// textOf returns the text of an element, as a line.
func (b *tab) textOf(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText.replaceAll("\u00a0", " ").replace(/\s+/g, " ").trim() ?? "nothing"`, selector))
}

// TestObjects: the page shows the figures that the command prints of heap snapshots, in every width and
// colour scheme: what grew, what retains most, and what holds it.
func TestObjects(t *testing.T) {
	t.Parallel()
	var doc struct {
		Snapshots []struct {
			Bytes int64 `json:"bytes"`
			Live  int64 `json:"live_bytes"`
			Types []struct {
				Type     string `json:"type"`
				Objects  int64  `json:"objects"`
				Bytes    int64  `json:"bytes"`
				Retained int64  `json:"retained_bytes"`
			} `json:"types"`
			Suspects []struct {
				Says string `json:"says"`
			} `json:"suspects"`
		} `json:"snapshots"`
		Growth []struct {
			Types []struct {
				Type    string `json:"type"`
				Objects int64  `json:"objects"`
				Bytes   int64  `json:"bytes"`
			} `json:"types"`
		} `json:"growth"`
	}
	if err := json.Unmarshal([]byte(gctrail(t, "objects", "--format", "json", "--top", "0", fixture(leak))), &doc); err != nil {
		t.Fatal(err)
	}
	last, grown := doc.Snapshots[2], doc.Growth[0].Types[0]
	viewsOf(t, pageOf(t, fixture(leak)), func(b *tab) {
		b.wait(`document.querySelector(".objects .retained canvas") && document.querySelector(".grid")`)
		if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			b.Errorf("the page is %d pixels too wide", over)
		}
		if got := b.textOf(".suspect"); !strings.Contains(got, last.Suspects[0].Says) || !strings.Contains(got, "confidence high") {
			b.Errorf("%q, want %q", got, last.Suspects[0].Says)
		}
		if got, want := b.textOf(".growth tbody tr"), fmt.Sprintf("%s GC 5: %s GC 7: %s +%s +%s", grown.Type, units.Bytes(last.Types[0].Bytes-grown.Bytes), units.Bytes(last.Types[0].Bytes), units.Bytes(grown.Bytes), units.Count(grown.Objects)); got != want {
			b.Errorf("%q, want %q", got, want)
		}
		rows := eval[[]string](b, `[...document.querySelectorAll(".of-types tbody tr")].map((r) => [...r.cells].slice(0, 4).map((c) => c.textContent).join("|"))`)
		for i, row := range rows {
			of := last.Types[i]
			if want := fmt.Sprintf("%s|%s|%s|%s", of.Type, units.Count(of.Objects), units.Bytes(of.Bytes), units.Bytes(of.Retained)); row != want {
				b.Errorf("row %d is %q, want %q", i, row, want)
			}
		}
		if len(rows) != 50 || len(last.Types) < 200 {
			b.Errorf("%d rows of %d types", len(rows), len(last.Types))
		}

		// Types: all, sorted, of one generation, by name.
		b.click(".of-types .more")
		b.wait(fmt.Sprintf(`document.querySelectorAll(".of-types tbody tr").length === %d`, len(last.Types)))
		b.click(".of-types th.bytes button, .of-types thead th:nth-child(3) button")
		b.wait(`document.querySelector(".of-types tbody td").textContent === "System.Byte[]"`)
		b.click(".of-types input")
		b.key("shop.*eak")
		b.wait(`document.querySelectorAll(".of-types tbody tr").length === 3`)

		// Paths, with a click, and in the address.
		b.click(".of-types tbody tr:nth-child(1) button")
		b.hash(true, "held=")
		b.wait(`document.querySelector(".paths td.way")`)
		if got := b.textOf(".paths tbody tr"); !strings.Contains(got, "leak (static) → System.Collections.Generic.List`1[Shop.Leak] → Shop.Leak[]") {
			b.Errorf("the path is %q", got)
		}
		b.click(".paths header button")
		b.hash(false, "held=")

		// The icicle: into a box, back by the way to it.
		x, y := b.at(".retained canvas", 0.1, 0)
		b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(x, y+b.boxes(2.5))))
		b.wait(`document.querySelectorAll(".crumbs li").length === 3`)
		if got := b.textOf(".crumbs"); got != "all that is alive leak (static) System.Collections.Generic.List`1[Shop.Leak]" {
			b.Errorf("the box is below %q", got)
		}
		b.click(".crumbs li:nth-child(1) button")
		b.wait(`document.querySelectorAll(".crumbs li").length === 0`)

		// Another snapshot, and none to compare it with.
		choose := func(label int, value string) {
			eval[bool](b, fmt.Sprintf(`(() => { const e = document.querySelectorAll(".objects > header select")[%d]; e.value = %q; e.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`, label, value))
		}
		choose(0, "1")
		b.hash(true, "snapshot=1")
		b.wait(fmt.Sprintf(`document.querySelector(".objects .figure small").textContent.replace("\u00a0", " ") === %q`, units.Bytes(doc.Snapshots[1].Bytes)))
		choose(1, "1")
		b.hash(true, "base=1")
		b.wait(`!document.querySelector(".growth")`)
	})
}

// boxes returns the height of n rows of boxes, which are larger on large screens.
func (b *tab) boxes(n float64) float64 {
	b.Helper()
	return n * eval[float64](b, `matchMedia("(min-width: 2560px)").matches ? 28 : 20`)
}

// TestObjectsByKeyboard: the tree opens and closes level by level, its rows say where they
// are, and Enter shows the paths to the objects of a row.
func TestObjectsByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	url := pageOf(t, fixture(leak))
	b.open(url)
	b.wait(`document.querySelector("[role=treegrid]")`)
	row := func() string {
		b.settle()
		return eval[string](b, `(() => { const r = document.activeElement; return [r.getAttribute("aria-level"), r.ariaExpanded, r.querySelector(".name").innerText.replace(/^[▾▸]?\s*/, "")].join(" "); })()`)
	}
	b.focus(".tree tbody tr[tabindex='0']")
	var got []string
	for _, key := range []string{kb.ArrowRight, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowDown, kb.ArrowUp, kb.ArrowRight, kb.ArrowDown, kb.ArrowDown} {
		b.key(key)
		got = append(got, row())
	}
	const list = "System.Collections.Generic.List`1[Shop.Leak]"
	want := []string{
		"2 true " + list, "2 false " + list, "1 true leak (static)", "2 false " + list, "1 true leak (static)", "2 false " + list,
		"1 true misc (static)", "2 true System.Collections.Generic.List`1[System.Object]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the keys lead to\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	b.key(kb.Enter)
	b.wait(`document.querySelector("#paths-title")?.textContent.includes("List")`)
	b.key(kb.End)
	if got := row(); !strings.HasPrefix(got, "1 ") {
		t.Errorf("the last row is %q", got)
	}
	unnamed := eval[[]string](b, `[...document.querySelectorAll(".objects :is(input, select, button, canvas, table)")].filter((e) =>
		!(e.ariaLabel || e.labels?.length || e.innerText?.trim() || e.rows)).map((e) => e.outerHTML.slice(0, 80))`)
	if len(unnamed) > 0 {
		t.Errorf("without a name: %q", unnamed)
	}
	b.blameless("GET " + url)
}

// TestObjectsPrinted: printed pages have the tables, and no controls.
func TestObjectsPrinted(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture(leak)))
	b.wait(`document.querySelector(".objects .retained canvas")`)
	b.media("dark", "print")
	for _, part := range []string{".suspect", ".growth tbody tr", ".tree tbody tr", ".of-types tbody tr"} {
		b.at(part, 0.5, 0.5)
	}
	if shown := eval[[]string](b, `[...document.querySelectorAll(".objects :is(input, select, .show, .more, .crumbs)")].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80))`); len(shown) > 0 {
		t.Errorf("controls are printed: %q", shown)
	}
	if cut := eval[int](b, `[...document.querySelectorAll(".sheet")].filter((e) => e.scrollHeight > e.clientHeight).length`); cut > 0 {
		t.Errorf("%d tables are cut", cut)
	}
	b.shoot("objects-printed")
}

// TestObjectsOfFiles: a page of snapshots alone compares the ones of two files, and has a
// process for each.
func TestObjectsOfFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "heap.html")
	gctrail(t, "objects", "--format", "html", "-o", path, fixture("net8-wks-rich.gcdump.gz"), fixture("net8-wks-rich.gcdump.gz"), fixture(leak))
	b := newTab(t, size{360, 740})
	url := "file://" + path
	b.open(url)
	b.wait(`document.querySelector(".objects .retained canvas")`)
	if got := b.textOf(".growth"); !strings.Contains(got, "Growth from net8-wks-rich.gcdump.gz to net8-wks-rich.gcdump.gz: 0 B, 0 objects") || !strings.Contains(got, "Nothing grew") {
		t.Errorf("%q", got)
	}
	if got := eval[int](b, `document.querySelectorAll(".tree tbody tr td:nth-child(3)").values().filter((e) => e.textContent !== "0 B" && e.textContent !== "").toArray().length`); got > 0 {
		t.Errorf("%d rows of the tree grew", got)
	}
	if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("the page is %d pixels too wide", over)
	}
	b.click(".processes tbody tr:nth-child(2) button")
	b.wait(`document.querySelector(".suspect")`)
	if got := b.textOf(".objects > header .hint"); !strings.HasPrefix(got, "Heap snapshot: GC 7 of "+leak+" at 1.280 s, 3.07 MB") {
		t.Errorf("%q", got)
	}
	b.blameless("GET " + url)
}

// TestServeObjects: the page of a served snapshot has its objects.
func TestServeObjects(t *testing.T) {
	t.Parallel()
	address := serve(t, nil, "--open", "no", fixture("net8-wks-rich.gcdump.gz"))
	b := newTab(t, size{1280, 900})
	b.open(address)
	b.wait(`document.querySelectorAll(".of-types tbody tr").length === 50`)
	b.click(".of-types tbody tr:nth-child(5) button")
	b.wait(`document.querySelector(".paths td.way")`)
	b.within(address)
}
