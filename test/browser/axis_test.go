package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// spread is a trace whose longest pause is hundreds of times as long as most.
const spread = "net9-srv-datas-all.nettrace.gz"

// vertical lists the labels of a chart's left axis.
const vertical = `(() => {
	const canvas = document.querySelector("#chart-%s canvas");
	return (labels.get(canvas) ?? []).filter(([text, l, r]) => r < 70 * devicePixelRatio && / (µs|ms|s|B|kB|MB|GB|B\/s|kB\/s|MB\/s|GB\/s)$/.test(text)).filter(([text, l, r, t, b]) => b < canvas.height - 20 * devicePixelRatio).map(([text]) => text);
})()`

// TestPauseAxis: where pauses differ widely in length their axis is logarithmic, with labels at
// exact powers of ten; a button and the address change that. A linear axis has one unit.
func TestPauseAxis(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: labels}))
	b.open(pageOf(t, fixture(spread)))
	const toggle = "#chart-pauses figcaption button"
	settled := func(logarithmic bool) []string {
		b.Helper()
		b.wait(fmt.Sprintf(`document.querySelector(%q)?.getAttribute("aria-pressed") === "%t" && document.querySelector("#chart-pauses canvas")`, toggle, logarithmic))
		b.settle()
		return eval[[]string](b, fmt.Sprintf(vertical, "pauses"))
	}
	powers := regexp.MustCompile(`^(1|10) µs$|^(0\.1|1|10|100) ms$|^(1|10) s$`)
	got := settled(true)
	if len(got) < 3 || slices.ContainsFunc(got, func(label string) bool { return !powers.MatchString(label) }) {
		b.Errorf("a logarithmic axis has the labels %q", got)
	}
	b.click(toggle)
	b.hash(true, "axis=linear")
	got = settled(false)
	if len(got) < 2 || slices.ContainsFunc(got, func(label string) bool { return !strings.HasSuffix(label, " ms") }) {
		b.Errorf("a linear axis has the labels %q", got)
	}
	b.focus(toggle)
	b.key(kb.Enter)
	b.hash(true, "axis=log")
	settled(true)
	if eval[bool](b, `document.querySelector(".details") !== null`) {
		b.Error("the key of the button opens the details of a GC")
	}
}

// below lists the labels of the time axis of a chart, from left to right.
const below = `(() => {
	const canvas = document.querySelector("#chart-pauses canvas");
	return (labels.get(canvas) ?? []).filter(([text, l, r, t, b]) => b > canvas.height - 20 * devicePixelRatio).sort((a, b) => a[1] - b[1]).map(([text]) => text);
})()`

// TestTimeAxis: labels of the time axis have one unit, also after ten minutes, and say exactly where
// they are: the steps between them are equal.
func TestTimeAxis(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "long.html")
	if err := os.WriteFile(path, manyCollections(t, 500, 60), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, of := range sizes {
		b := newTab(t, of)
		b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: labels}))
		b.open("file://" + path)
		b.wait(`document.querySelector("#chart-pauses canvas")`)
		b.settle()
		all := eval[[]string](b, below)
		var at []float64
		units := map[string]bool{}
		for _, label := range all {
			number, unit, _ := strings.Cut(label, " ")
			v, err := strconv.ParseFloat(number, 64)
			b.must(err)
			at, units[unit] = append(at, v), true
		}
		if len(at) < 3 || len(units) != 1 || !units["min"] {
			b.Fatalf("%d pixels wide, labels %q", of.width, all)
		}
		for i, v := range at {
			if v != at[0]+float64(i)*(at[1]-at[0]) {
				b.Errorf("%d pixels wide, labels %q", of.width, all)
				break
			}
		}
		b.shoot(fmt.Sprintf("time-axis-%d", of.width))
	}
}

// reading is what a chart says beside the pointer, and whether it is on the screen and leaves the pointer free.
type reading struct {
	Text string `json:"text"`
	Free bool   `json:"free"`
}

// TestReadings: a chart says its figures beside the pointer, also at its edges; a pixel beside a
// long pause it says that of the long one.
func TestReadings(t *testing.T) {
	t.Parallel()
	for _, of := range sizes {
		b := newTab(t, of)
		b.open(pageOf(t, fixture(trace)))
		b.wait(`document.querySelector("#chart-committed canvas")`)
		b.settle()
		point := func(chart string, across, pixels float64) reading {
			b.Helper()
			x, y := b.at("#chart-"+chart+" .u-over", across, 0.5)
			b.must(chromedp.Do(b.ctx, chromedp.MouseEvent("mouseMoved", x+pixels, y)))
			b.wait(fmt.Sprintf(`document.querySelector("#chart-%s .reading")`, chart))
			return eval[reading](b, fmt.Sprintf(`(() => {
				const e = document.querySelector("#chart-%s .reading"), box = e.getBoundingClientRect();
				return { text: e.textContent, free: box.left >= 0 && box.right <= innerWidth && (box.left > %[2]g || box.right < %[2]g) };
			})()`, chart, x+pixels))
		}
		for chart, says := range map[string]string{"pauses": "pause, ", "heap": "gen 0", "rate": "rate", "committed": "memory load"} {
			for _, across := range []float64{0.02, 0.48, 0.52, 0.98} {
				if got := point(chart, across, 0); !got.Free || !strings.Contains(got.Text, says) {
					b.Errorf("%d pixels wide, %s at %g: %+v", of.width, chart, across, got)
				}
			}
		}
		if read, longest := eval[[]string](b, sweep), eval[string](b, longestPause); !slices.Contains(read, longest) {
			b.Errorf("%d pixels wide, no place of the chart reads the longest pause, %s", of.width, longest)
		}
	}
}

// longestPause is the longest pause as the figures have it.
const longestPause = `[...document.querySelectorAll(".figure")].find((e) => e.textContent.startsWith("longest pause")).querySelector("dd").firstChild.textContent`

// sweep points at each sixth pixel of the chart of pauses, and lists the pauses that it says.
const sweep = `(async () => {
	const over = document.querySelector("#chart-pauses .u-over"), box = over.getBoundingClientRect(), read = [];
	for (let x = 1; x < box.width; x += 6) {
		over.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + 9 }));
		await new Promise((done) => setTimeout(done));
		read.push(document.querySelector("#chart-pauses .reading p").lastChild.textContent.trim());
	}
	return read;
})()`

// unreadable focuses each element that can have the focus, and lists titles that do not appear
// beside it, and focus rings that an ancestor clips.
const unreadable = `(async () => {
	document.querySelectorAll("details").forEach((e) => (e.open = true));
	const found = [];
	for (const e of document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")) {
		if (e.disabled || !e.checkVisibility() || e.matches(".hidden *")) continue;
		e.focus();
		if (!e.matches(":focus-visible")) continue;
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		const name = e.tagName + " " + (e.ariaLabel ?? e.textContent).slice(0, 40), tip = document.querySelector(".tip"), title = e.closest("[title]")?.title;
		if (title && !tip?.textContent.includes(title)) found.push(name + ": its title is not shown");
		const box = tip?.getBoundingClientRect();
		if (box && (box.left < 0 || box.right > innerWidth || box.top < 0 || box.bottom > innerHeight)) found.push(name + ": its title is off the screen: " + [box.left, box.top, box.right, box.bottom].map(Math.round) + " of " + innerWidth + ", " + innerHeight);
		const style = getComputedStyle(e), ring = e.getBoundingClientRect(), wide = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);
		if (style.outlineStyle === "none" && !e.matches(".themes input, .histogram g")) found.push(name + ": no ring");
		for (let of = e.parentElement; of !== document.body; of = of.parentElement) {
			if (getComputedStyle(of).overflow === "visible") continue;
			const clip = of.getBoundingClientRect();
			if (ring.left - wide < clip.left - 1 || ring.right + wide > clip.right + 1) found.push(name + ": its ring is cut by " + of.className);
		}
	}
	return found;
})()`

// TestFocus moves the keyboard focus through the page: each element has a visible focus ring,
// and shows the same tooltip as under the mouse.
func TestFocus(t *testing.T) {
	t.Parallel()
	page := pageOf(t, fixture(trace), fixture("net10-wks-stacks.nettrace.gz"))
	for _, of := range sizes[:2] {
		b := newTab(t, of)
		b.media("light", "")
		b.open(page)
		b.wait(`document.querySelector(".grid .rows .row")`)
		b.settle()
		b.key(kb.Tab)
		if found := eval[[]string](b, unreadable); len(found) > 0 {
			b.Errorf("%d pixels wide: %q", of.width, found)
		}
	}
}
