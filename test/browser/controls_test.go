package browser

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/extent"
	"github.com/gctrail/gctrail/internal/selection"
	"github.com/gctrail/gctrail/open"
)

const trace = "net10-wks-induced-collect.nettrace.gz"

// selected is how many collections are selected.
func (b *tab) selected() int {
	b.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(eval[string](b, `document.querySelector(".status b")?.textContent ?? "-1"`), ",", ""))
	b.must(err)
	return n
}

// opened opens the page of a trace.
func opened(t *testing.T, of size) *tab {
	t.Helper()
	b := newTab(t, of)
	b.open(pageOf(t, fixture(trace)))
	b.wait(`document.querySelector("#chart-pauses canvas") && document.querySelector(".grid .rows .row")`)
	return b
}

// where sets the condition of the address, and waits until the page selects by it.
func (b *tab) where(text string) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { location.hash = new URLSearchParams({ where: %q }).toString(); return true; })()`, text))
	b.wait(fmt.Sprintf(`document.querySelector("#where").value === %q`, text))
	b.settle()
}

// schemes are the colour schemes.
var schemes = []string{"light", "dark"}

// views opens a page as viewsOf does. It is of two traces: one with
// findings that quote GCs, and one with allocations and their stacks.
func views(t *testing.T, use func(b *tab)) {
	t.Helper()
	viewsOf(t, pageOf(t, fixture(trace), fixture("net10-wks-stacks.nettrace.gz")), use)
}

// viewsOf opens a page in each size, and in both colour schemes, in a run of all in one of them in
// each turn.
func viewsOf(t *testing.T, url string, use func(b *tab)) {
	t.Helper()
	for i, of := range sizes {
		for j, scheme := range schemes {
			if !extent.Due(i+j, len(schemes)) {
				continue
			}
			name := fmt.Sprintf("%d %s", of.width, scheme)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newTab(t, of)
				b.media(scheme, "")
				b.open(url)
				use(b)
				b.shoot(strings.ReplaceAll(t.Name(), "/", "-"))
				b.blameless("GET " + url)
			})
		}
	}
}

// hash waits until the address has some text, or does not have it.
func (b *tab) hash(has bool, text string) {
	b.Helper()
	b.wait(fmt.Sprintf("location.hash.includes(%q) === %t", text, has))
}

// quoted is how many GCs the first finding quotes that quotes more than five.
func (b *tab) quoted() (button string, n int) {
	b.Helper()
	text := eval[string](b, `(() => {
		const all = [...document.querySelectorAll(".show")].map((e) => [e, Number(/these ([\d,]+) GCs/.exec(e.textContent)?.[1].replace(",", ""))]);
		const [e, n] = all.find(([, n]) => n > 5);
		e.id = "show-many";
		return String(n);
	})()`)
	n, err := strconv.Atoi(text)
	b.must(err)
	return "#show-many", n
}

// TestMouse uses every control with the mouse.
func TestMouse(t *testing.T) {
	t.Parallel()
	views(t, func(b *tab) {
		all := b.selected()
		drag := func(selector string, from, to float64) {
			b.Helper()
			x0, y0 := b.at(selector, from, 0.5)
			x1, _ := b.at(selector, to, 0.5)
			b.must(chromedp.Do(b.ctx, chromedp.DragAndDropXY(x0, y0, x1, y0)))
		}
		for _, chart := range []string{"pauses", "heap", "rate", "committed", "phases"} {
			drag("#chart-"+chart+" .u-over", 0.3, 0.6)
			b.hash(true, "from=")
			b.settle()
			if part := b.selected(); part <= 0 || part >= all {
				b.Errorf("dragging across %s selects %d of %d", chart, part, all)
			}
			b.click(".chip button")
			b.hash(false, "from=")
			x, y := b.at("#chart-"+chart+" .u-over", 0.5, 0.5)
			b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(x, y)))
			b.wait(`document.querySelector(".details")`)
			b.click(`.details [aria-label="Close the details"]`)
			b.wait(`!document.querySelector(".details")`)
		}
		drag("#chart-pauses .u-over", 0.3, 0.6)
		b.hash(true, "from=")
		b.settle()
		part := b.selected()
		b.click(".toolbar .buttons button:nth-child(1)")
		b.hash(true, "zoomFrom=")
		b.click(".toolbar .buttons button:nth-child(2)")
		b.hash(false, "zoomFrom=")
		b.click(".percentiles tbody tr:nth-child(3) td button")
		b.hash(true, "pick=pause")
		b.settle()
		if n := b.selected(); n <= 0 || n >= part {
			b.Errorf("p99 selects %d of %d", n, part)
		}
		b.click(".chip button")
		b.settle()
		b.click(".toolbar .buttons button:nth-child(3)")
		b.wait(`location.hash === ""`)
		b.settle()
		if n := b.selected(); n != all {
			b.Errorf("%d are selected after a reset, want %d", n, all)
		}

		for id, value := range map[string]string{"where": "gen=2", "from": "0.5", "to": "2"} {
			b.click("#" + id)
			b.key(value + kb.Enter)
			b.hash(true, id+"=")
		}
		b.settle()
		if n := b.selected(); n <= 0 || n >= all {
			b.Errorf("a condition and times select %d of %d", n, all)
		}
		b.click(".grammar summary")
		b.wait(`document.querySelector(".grammar").open`)
		b.click(".toolbar .buttons button:nth-child(3)")
		b.wait(`location.hash === ""`)

		b.click(".findings li:nth-child(1) summary")
		b.wait(`!document.querySelector(".findings details").open`)
		b.click(".findings li:nth-child(1) summary")
		b.wait(`document.querySelector(".findings details").open`)
		eval[bool](b, `document.querySelectorAll(".findings details").forEach((e) => (e.open = true)) ?? true`)
		show, quotes := b.quoted()
		b.click(show)
		b.hash(true, "pick=finding")
		b.wait(fmt.Sprintf(`document.querySelector(".status b").textContent.replace(",", "") === "%d"`, quotes))
		b.click(show)
		b.hash(false, "pick=")
		b.click(".findings .command button")
		b.click(".evidence details summary")
		b.wait(`document.querySelector(".evidence details").open`)

		b.click(`.histogram g:nth-of-type(2)`)
		b.hash(true, "pick=pause")
		b.click(".chip button")
		b.hash(false, "pick=")
		drag(".histogram svg", 0.2, 0.7)
		b.hash(true, "pick=pause")
		b.click(".chip button")
		b.hash(false, "pick=")

		b.click(b.header("pause"))
		b.hash(true, "sort=-pause")
		b.click(".chooser summary")
		b.click(".chooser label:nth-of-type(1) input")
		b.hash(true, "columns=")
		b.click(".chooser fieldset button")
		b.hash(false, "columns=")
		b.click(".chooser summary")
		b.click(".grid .rows .row:nth-child(2) [role=gridcell]") // the row may be wider than the window
		b.wait(`document.querySelector(".details")`)
		b.click(`.details [aria-label="Next GC"]`)
		b.click(`.details [aria-label="Previous GC"]`)
		b.click(`.details [aria-label="Close the details"]`)
		b.wait(`!document.querySelector(".details")`)

		b.click(".processes tbody tr:nth-child(2) button")
		b.hash(true, "process=1")
		b.wait(`document.querySelector(".flame canvas")`)
		b.click(".allocations .types tbody tr:nth-child(1) button")
		b.hash(true, "type=")
		b.click(".allocations .types tbody tr:nth-child(1) button")
		b.hash(false, "type=")
		b.click(".allocations .types thead th:nth-child(1) button")
		b.wait(`document.querySelector(".types th").ariaSort === "ascending"`)
		x, y := b.at(".flame canvas", 0.1, 0)
		b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(x, y+b.boxes(2.5))))
		b.wait(`!document.querySelector(".flame-head button").disabled`)
		b.click(".flame-head button")
		b.wait(`document.querySelector(".flame-head button").disabled`)
		b.click(".flame-head input")
		b.key("system")
		b.click(".flame details summary")
		b.wait(`document.querySelector(".flame details").open`)

		for i, theme := range []string{"", "light", "dark"} {
			b.click(fmt.Sprintf(`.themes label:nth-of-type(%d)`, i+1))
			b.wait(fmt.Sprintf(`(document.documentElement.dataset.theme ?? "") === %q`, theme))
		}
	})
}

// TestKeyboard uses every control with the keyboard alone.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	views(t, func(b *tab) {
		all := b.selected()
		press := func(selector, keys string) {
			b.Helper()
			b.focus(selector)
			b.key(keys)
		}

		press("#where", "gen=2"+kb.Enter)
		b.hash(true, "where=gen")
		b.settle()
		if n := b.selected(); n <= 0 || n >= all {
			b.Errorf("a condition selects %d of %d", n, all)
		}
		b.key(kb.Escape)
		b.wait(`location.hash === ""`)
		press("#from", "0.5"+kb.Enter)
		b.hash(true, "from=500000")
		press("#to", "2"+kb.Enter)
		b.hash(true, "to=2000000")
		press(".toolbar .buttons button:nth-child(1)", kb.Enter)
		b.hash(true, "zoomFrom=")
		press(".toolbar .buttons button:nth-child(2)", kb.Enter)
		b.hash(false, "zoomFrom=")
		press(".chip button", kb.Enter)
		b.hash(false, "from=")
		press(".grammar summary", kb.Enter)
		b.wait(`document.querySelector(".grammar").open`)

		for _, chart := range []string{"heap", "pauses", "rate", "committed", "phases"} {
			b.focus("#chart-" + chart)
			b.key(kb.Home)
			b.key(kb.ArrowRight)
			for range 5 {
				b.key(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
			}
			b.hash(true, "from=")
			b.settle()
			if n := b.selected(); n < 5 || n > 7 {
				b.Errorf("the keys select %d in %s", n, chart)
			}
			b.key(kb.Escape)
			b.wait(`location.hash === ""`)
		}
		b.focus("#chart-heap")
		b.key(kb.ArrowRight)
		b.key(kb.PageDown, chromedp.KeyModifiers(chromedp.ModifierShift))
		b.hash(true, "from=")
		b.key("+")
		b.hash(true, "zoomFrom=")
		b.key("-")
		b.hash(false, "zoomFrom=")
		b.key(kb.Enter)
		b.wait(`document.activeElement?.classList.contains("details")`)
		b.key(kb.ArrowRight)
		b.key(kb.ArrowLeft)
		b.key(kb.Escape)
		b.wait(`!document.querySelector(".details") && document.activeElement?.id === "chart-heap"`)
		b.key(kb.Escape)
		b.wait(`location.hash === ""`)

		press(".findings li:nth-child(1) summary", kb.Enter)
		b.wait(`!document.querySelector(".findings details").open`)
		eval[bool](b, `document.querySelectorAll(".findings details").forEach((e) => (e.open = true)) ?? true`)
		show, quotes := b.quoted()
		press(show, kb.Enter)
		b.hash(true, "pick=finding")
		b.wait(fmt.Sprintf(`document.querySelector(".status b").textContent.replace(",", "") === "%d"`, quotes))
		press(show, " ")
		b.hash(false, "pick=")
		press(".findings .command button", kb.Enter)
		press(".evidence details summary", kb.Enter)
		b.wait(`document.querySelector(".evidence details").open`)

		press(".percentiles tbody tr:nth-child(2) button", kb.Enter)
		b.hash(true, "pick=pause")
		b.key(kb.Enter)
		b.hash(false, "pick=")
		b.focus(".histogram g[tabindex='0']")
		b.key(kb.ArrowRight)
		b.key(kb.Enter)
		b.hash(true, "pick=pause")
		b.key(kb.Escape)
		b.hash(false, "pick=")

		press(b.header("pause"), kb.Enter)
		b.hash(true, "sort=-pause")
		press(".grid [role=columnheader]:nth-child(1) button", kb.Enter)
		b.hash(false, "sort=")
		press(".chooser summary", kb.Enter)
		b.key(kb.Tab)
		b.key(" ")
		b.hash(true, "columns=")
		press(".chooser fieldset button", kb.Enter)
		b.hash(false, "columns=")
		press(".chooser summary", kb.Enter)
		b.focus(".grid")
		b.key(kb.End)
		b.key(kb.ArrowUp)
		b.key(kb.Enter)
		b.hash(true, fmt.Sprintf("gc=%d", all-2))
		b.key(kb.Escape)
		b.wait(`document.activeElement?.classList.contains("grid")`)

		press(".processes tbody tr:nth-child(2) button", kb.Enter)
		b.hash(true, "process=1")
		b.wait(`document.querySelector(".flame canvas")`)
		press(".allocations .types tbody tr:nth-child(1) button", kb.Enter)
		b.hash(true, "type=")
		b.key(kb.Enter)
		b.hash(false, "type=")
		press(".allocations .types thead th:nth-child(1) button", kb.Enter)
		b.wait(`document.querySelector(".types th").ariaSort === "ascending"`)
		pointed := func() string {
			return eval[string](b, `document.querySelector(".flame .pointed").textContent`)
		}
		b.focus(".flame canvas")
		whole := pointed()
		b.key(kb.ArrowDown)
		b.settle()
		below := pointed()
		b.key(kb.Enter)
		b.wait(`!document.querySelector(".flame-head button").disabled`)
		b.key(kb.ArrowDown)
		b.key(kb.ArrowRight)
		b.key(kb.ArrowLeft)
		b.key(kb.ArrowUp)
		b.settle()
		if now := pointed(); below == whole || now != below {
			b.Errorf("the keys lead from %q to %q and back to %q", whole, below, now)
		}
		b.key(kb.Backspace)
		b.wait(`document.querySelector(".flame-head button").disabled`)
		b.key(kb.ArrowDown)
		b.key(kb.Enter)
		b.key(kb.Escape)
		b.wait(`document.querySelector(".flame-head button").disabled`)
		press(".flame-head input", "system")
		press(".flame details summary", kb.Enter)
		b.wait(`document.querySelector(".flame details").open`)

		b.focus(".themes input")
		for _, theme := range []string{"light", "dark", ""} {
			b.key(kb.ArrowRight)
			b.wait(fmt.Sprintf(`(document.documentElement.dataset.theme ?? "") === %q`, theme))
		}

		// The tab key reaches every part.
		reached := map[string]bool{}
		b.must(chromedp.Do(b.ctx, chromedp.Focus(chromedp.CSS(".skip"))))
		for range 400 {
			b.key(kb.Tab)
			at := eval[string](b, `(() => { const e = document.activeElement; return e.closest("section, header")?.className.split(" ")[0] ?? ""; })()`)
			reached[at] = true
			if at == "allocations" {
				break
			}
		}
		for _, part := range []string{"bar", "processes", "findings", "evidence", "toolbar", "charts", "distribution", "collections", "allocations"} {
			if !reached[part] {
				b.Errorf("the tab key does not reach %s: %v", part, reached)
			}
		}
	})
}

// TestSelectionOfAllocations: allocations follow the selection, and their parts add
// up to the whole.
func TestSelectionOfAllocations(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture("net10-wks-stacks.nettrace.gz")))
	// The bytes of the types, as the page rounds them, to three digits.
	sum := func() float64 {
		return eval[float64](b, `[...document.querySelectorAll(".types tbody td:nth-child(3)")].reduce((all, e) => {
			const [n, unit] = e.textContent.split(" ");
			return all + Number(n.replace(",", "")) * { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
		}, 0)`)
	}
	b.wait(`document.querySelectorAll(".types tbody tr").length > 3`)
	whole := sum()
	end := eval[float64](b, `(() => { const f = document.querySelector(".verdict .facts").textContent; return Number(/([\d.]+) s of/.exec(f)[1]) * 1e6; })()`)
	var parts float64
	for i := range 4 {
		before := eval[string](b, `document.querySelector("#to").value`)
		eval[bool](b, fmt.Sprintf(`(() => { location.hash = "from=%.0f&to=%.0f"; return true; })()`, float64(i)*end/4, float64(i+1)*end/4+float64(i/3)*1e6))
		b.wait(fmt.Sprintf(`document.querySelector("#to").value !== %q`, before))
		b.settle()
		if text := eval[string](b, `document.querySelector(".allocations .hint").textContent`); !strings.Contains(text, "allocated before the selected GCs") {
			b.Errorf("the page does not say what is shown: %q", text)
		}
		part := sum()
		if part < 0 || part >= whole {
			b.Errorf("part %d has %.0f of %.0f bytes", i, part, whole)
		}
		parts += part
		if got := eval[string](b, `document.querySelector(".flame .pointed").textContent`); !strings.HasSuffix(got, " in all") {
			b.Errorf("the flame graph shows %q", got)
		}
	}
	if ratio := parts / whole; ratio < 0.99 || ratio > 1.01 {
		b.Errorf("the parts have %.0f bytes, the whole %.0f", parts, whole)
	}
	// A condition selects the allocations before the GCs that meet it.
	b.where("gen=2")
	if part := sum(); part <= 0 || part >= whole {
		b.Errorf("before GCs of gen 2: %.0f of %.0f bytes", part, whole)
	}
}

// TestTruncated: the page of a truncated trace says so beside its verdict.
func TestTruncated(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture("net10-killed-web.nettrace.gz")))
	if got := eval[string](b, `document.querySelector(".verdict .missing")?.textContent ?? ""`); !strings.Contains(got, "the trace is truncated: it ends at 2.92 s") || !strings.Contains(got, "1 GC incomplete") {
		b.Errorf("the page says %q", got)
	}
	b.shoot("truncated")
}

// TestConditions: the page selects by a condition what internal/selection does, and refuses
// with the same words.
func TestConditions(t *testing.T) {
	t.Parallel()
	in, err := open.File(fixture(trace), open.Options{Want: gc.Wants})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var model gc.Model
	var all []*gc.Collection
	for c, err := range model.Collections(in.Source) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	b := opened(t, size{1280, 900})
	for _, text := range []string{
		"pause>1ms", "pause <= 0.5 ms or gen=2 and kind!=background", "(gen=1 or gen=0) and heap>1MB", "reason=Induced", "reason != induced and suspend>=10.5us",
		"number>100 and number<=200", "promoted>1MiB", "rate>100MB/s", "load>=1%", "pinned>0", "committed<40MB and before>5MB", "freed>1kB and allocated>1kB", "duration<1s",
		"gen=3", "pause>5", "pauses>1ms", "kind>blocking", "(gen=1", "gen=1 or", "reason=Nothing", "gen=2)", "heap>1ms",
	} {
		b.where(text)
		want, err := selection.ParseCondition(text)
		if err != nil {
			// The page selects collections, and offers no figures of requests.
			want := strings.ReplaceAll(err.Error(), ", request, paused", "")
			if got := eval[string](b, `document.querySelector(".status .error")?.textContent ?? ""`); got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
			continue
		}
		n := 0
		for _, c := range all {
			if want.Holds(c) {
				n++
			}
		}
		if got := b.selected(); got != n {
			t.Errorf("%s selects %d, want %d", text, got, n)
		}
	}
}

// TestLink: the address holds the state of the page.
func TestLink(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture(trace)) + "#from=500000&to=1500000&where=gen%3D2&sort=-pause&columns=number,pause,after&theme=dark")
	if n := b.selected(); n <= 0 {
		t.Errorf("%d are selected", n)
	}
	b.wait(`document.querySelector("[role=columnheader]")`)
	if got := eval[string](b, `document.querySelector("#where").value + " " + document.documentElement.dataset.theme + " " + document.querySelectorAll("[role=columnheader]").length`); got != "gen=2 dark 3" {
		t.Error(got)
	}
}

// TestPrint: the printed page is light, without controls, with all parts and the
// selection, in every width and colour scheme; the page afterwards is as before.
func TestPrint(t *testing.T) {
	t.Parallel()
	views(t, func(b *tab) {
		scheme := "light"
		if strings.HasSuffix(b.Name(), "dark") {
			scheme = "dark"
		}
		b.focus("#where")
		b.key("gen=2" + kb.Enter)
		b.hash(true, "where=gen")
		b.settle()
		n := b.selected()
		screen := eval[string](b, `getComputedStyle(document.body).backgroundColor`)
		b.media(scheme, "print")
		if got := eval[string](b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
			b.Errorf("the background is %s", got)
		}
		if shown := eval[[]string](b, `[...document.querySelectorAll("input, summary, .toolbar button, .show, .command button, .flame-head, .chooser, .themes, .skip, .details .buttons")]
			.filter((e) => e.tagName !== "SUMMARY" && e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80))`); len(shown) > 0 {
			b.Errorf("controls are printed: %q", shown)
		}
		for _, part := range []string{".verdict .sentence", ".figures", ".findings li", ".evidence", "#chart-pauses canvas", "#chart-heap canvas", ".percentiles td", ".histogram rect", ".grid .rows .row"} {
			b.at(part, 0.5, 0.5)
		}
		b.shoot(strings.ReplaceAll(b.Name(), "/", "-") + "-printed")
		if pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF()); err != nil || len(pdf) < 10_000 {
			b.Errorf("%d bytes: %v", len(pdf), err)
		}
		b.media(scheme, "")
		if got := eval[string](b, `getComputedStyle(document.body).backgroundColor`); got != screen || b.selected() != n {
			b.Errorf("after printing the background is %s, was %s, and %d GCs are selected, were %d", got, screen, b.selected(), n)
		}
	})
}

// header returns the selector of the button that sorts by the column with a heading. Columns
// have another order on narrow screens.
func (b *tab) header(label string) string {
	b.Helper()
	i := eval[int](b, fmt.Sprintf(`[...document.querySelectorAll(".grid [role=columnheader]")].findIndex((e) => e.textContent.startsWith(%q))`, label))
	if i < 0 {
		b.Fatalf("no column %q", label)
	}
	return fmt.Sprintf(".grid [role=columnheader]:nth-child(%d) button", i+1)
}
