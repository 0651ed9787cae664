package browser

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// nothing lists the charts that have nothing to show.
const nothing = `[...document.querySelectorAll(".plot.nothing")].map((e) => e.closest("figure").id)`

// TestChartsOfOtherRuntimes: .NET Framework has no heap of pinned objects, and its heap is
// drawn all the same, by the generations that it has.
func TestChartsOfOtherRuntimes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"netfx452-win-x64-head.etl.zip": "LOH gen 2 gen 1 gen 0",
		"net10-wks-stacks.nettrace.gz":  "POH LOH gen 2 gen 1 gen 0",
	} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, size{1280, 900})
			b.open(pageOf(t, fixture(name)))
			b.wait(`document.querySelector("#chart-heap canvas")`)
			b.settle()
			if got := eval[string](b, `[...document.querySelectorAll("#chart-heap .legend li")].map((e) => e.textContent).join(" ")`); got != want {
				b.Errorf("generations: %s", got)
			}
			if empty := eval[[]string](b, nothing); slices.Contains(empty, "chart-heap") {
				b.Errorf("empty charts: %q", empty)
			}
		})
	}
}

// TestLostRanges: the page says that lines end where events were lost, and only then.
func TestLostRanges(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"net10-lossy-handles.nettrace.gz": true, trace: false} {
		b := newTab(t, size{1280, 900})
		b.open(pageOf(t, fixture(name)))
		b.wait(`document.querySelector("#chart-pauses canvas")`)
		b.settle()
		if got := eval[bool](b, `document.querySelector(".charts").textContent.includes("events were lost")`); got != want {
			b.Errorf("%s: lost ranges are shown: %v", name, got)
		}
		b.shoot("lost-" + name)
	}
}

// TestUnrecorded: in place of charts that would be empty the page says that their figures were not
// recorded, and the command that records stacks is the same wherever it is.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ lacks, stacks string }{
		"net20-lttng-gcstart-gcend.trace.zip": {"Not recorded: pauses, heap sizes, allocation rate.", ""},
		"net10-wks-web-collect.nettrace.gz":   {"their phases were not recorded", ""},
		"net31-net9-lttng.trace.zip":          {"", "gctrail collect -n dotnet --profile gc-alloc"},
		"net10-aot-win-x64-alloc.nettrace.gz": {"", "The trace has no stacks of allocations."},
	} {
		b := newTab(t, size{1280, 900})
		b.open(pageOf(t, fixture(name)))
		b.wait(`document.querySelector(".chart-grid") && document.querySelector(".grid .rows .row")`)
		b.settle()
		if got := eval[string](b, `document.querySelector(".charts").textContent`); !strings.Contains(got, want.lacks) {
			b.Errorf("%s: charts say %q", name, got)
		}
		if want.stacks == "" {
			continue
		}
		b.wait(`document.querySelector(".stackless")`)
		if got := eval[string](b, `(document.querySelector(".stackless code") ?? document.querySelector(".stackless")).textContent`); got != want.stacks {
			b.Errorf("%s: the command for stacks is %q", name, got)
		}
		if n := eval[int](b, `[...document.querySelectorAll(".evidence code")].filter((e) => /gc-(alloc|verbose)/.test(e.textContent) && e.textContent !== document.querySelector(".stackless code")?.textContent).length`); n > 0 {
			b.Errorf("%s: %d other commands for stacks", name, n)
		}
	}
}

// TestOvercounted: a page does not claim that all was allocated that the allocation ticks of
// .NET Core 3 count.
func TestOvercounted(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{1280, 900})
	b.open(pageOf(t, fixture("net30-win-x64-survival.nettrace.gz")))
	b.wait(`document.querySelector(".allocations .types tbody tr")`)
	if got := b.textOf(".allocations .hint"); !strings.HasPrefix(got, "4.24 GB, counted from 35,458 GCAllocationTick events. That is more than the 1.12 GB that were allocated:") {
		b.Errorf("the page says %q", got)
	}
	if eval[bool](b, `document.querySelector(".allocations .types tbody tr").hasAttribute("title")`) {
		b.Errorf("the page gives an interval of 95 %%")
	}
}

// TestFurther: the page names everything else that a trace does not have, each with the command
// that records it.
func TestFurther(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		says     string
		commands []string
	}{
		"net10-wks-web-collect.nettrace.gz": {"requests, GC handles, heap snapshots", []string{"--requests", "--clrevents gc+gchandle+stack", "gctrail dump -n gcload"}},
		"net10-wks-requests.nettrace.gz":    {"GC handles, heap snapshots", []string{"--clrevents gc+gchandle+stack", "gctrail dump -n "}},
		leak:                                {"requests, GC handles", []string{"--requests", "--clrevents gc+gchandle+stack"}},
		"netfx452-win-x64-head.etl.zip":     {"GC handles", []string{"gctrail collect --etw"}},
	} {
		b := newTab(t, size{1280, 900})
		b.open(pageOf(t, fixture(name)))
		b.wait(`document.querySelector(".charts .further")`)
		if got := b.textOf(".charts .further summary"); got != "Not recorded: "+want.says+". How to record them" {
			b.Errorf("%s: %q", name, got)
		}
		commands := eval[[]string](b, `[...document.querySelectorAll(".charts .further code")].map((e) => e.textContent)`)
		for i, command := range want.commands {
			if len(commands) != len(want.commands) || !strings.Contains(commands[i], command) {
				b.Errorf("%s: %q, want %q", name, commands, want.commands)
				break
			}
		}
	}
}

// TestMonoPage: the page of a trace of Mono says why it has no GCs, and how to record them.
func TestMonoPage(t *testing.T) {
	t.Parallel()
	information := clr.RuntimeInformationStart{Sku: clr.RuntimeSkuMono, BclMajorVersion: 9, CommandLine: clr.NewUTF16("/data/app/shop")}
	path := filepath.Join(t.TempDir(), "mono.nettrace")
	if err := os.WriteFile(path, tracetest.MustNettrace(t, `nettrace v4
metadata
  def id=1 provider=Microsoft-Windows-DotNETRuntimeRundown event=187 level=4
events
  event meta=1 thread=5 time=+20000000000 payload=hex:`+hex.EncodeToString(information.Append(nil, 0, 8))+"\nend\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newTab(t, size{360, 740})
	b.open(pageOf(t, path))
	b.wait(`document.querySelector(".evidence")`)
	if got := b.textOf(".verdict .sentence"); !strings.Contains(got, "the program ran on Mono") {
		b.Errorf("the verdict is %q", got)
	}
	if got := eval[[]string](b, `[...document.querySelectorAll(".evidence code")].filter((e) => e.textContent.startsWith("gctrail")).map((e) => e.textContent)`); !slices.Equal(got, []string{"gctrail collect -p PID --providers Microsoft-DotNETRuntimeMonoProfiler:0x1:4"}) {
		b.Errorf("commands: %q", got)
	}
}

// labels notes each text of a canvas, with the box that it takes.
const labels = `(() => {
	window.labels = new Map();
	const draw = CanvasRenderingContext2D.prototype.fillText;
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
		const m = this.measureText(text);
		const at = this.getTransform().transformPoint({ x, y });
		if (this.canvas.closest(".chart")) {
			const box = [text, at.x - m.actualBoundingBoxLeft, at.x + m.actualBoundingBoxRight, at.y - m.actualBoundingBoxAscent, at.y + m.actualBoundingBoxDescent];
			if (!labels.has(this.canvas)) labels.set(this.canvas, []);
			labels.get(this.canvas).push(box);
		}
		return draw.call(this, text, x, y, ...rest);
	};
	const clear = CanvasRenderingContext2D.prototype.clearRect;
	CanvasRenderingContext2D.prototype.clearRect = function (...args) {
		labels.delete(this.canvas);
		return clear.apply(this, args);
	};
	return true;
})()`

// covering lists the texts of charts that cover another, or that a canvas cuts.
const covering = `[...labels].filter(([canvas]) => canvas.isConnected).flatMap(([canvas, boxes]) => boxes.flatMap(([text, l, r, t, b], i) => [
	...(l < -1 || r > canvas.width + 1 ? [text + " is cut"] : []),
	...boxes.slice(i + 1).filter(([other, ol, or, ot, ob]) => l < or && ol < r && t < ob && ot < b).map(([other]) => text + " over " + other),
]))`

// TestNarrowPage: on a telephone the table shows the pause of each GC, no label of an axis
// covers another or is cut, and no section is wider than the screen.
func TestNarrowPage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"net31-net9-lttng.trace.zip", "net10-wks-web-collect.nettrace.gz", "net10-aot-win-x64-alloc.nettrace.gz"} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, size{360, 740})
			b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: labels}))
			b.open(pageOf(t, fixture(name)))
			b.wait(`document.querySelector("#chart-committed canvas") && document.querySelector(".grid .rows .row")`)
			b.settle()
			if n := eval[int](b, `[...labels.values()].flat().length`); n < 10 {
				b.Errorf("charts have %d labels", n)
			}
			if over := eval[[]string](b, covering); len(over) > 0 {
				b.Errorf("labels of axes: %q", over)
			}
			if over := eval[[]string](b, `[...document.querySelectorAll(".ticks span")].filter((e) => e.checkVisibility())
				.filter((e, i, all) => i > 0 && all[i - 1].getBoundingClientRect().right > e.getBoundingClientRect().left).map((e) => e.textContent)`); len(over) > 0 {
				b.Errorf("labels of the histogram cover others: %q", over)
			}
			if over := eval[float64](b, `(() => {
				const head = [...document.querySelectorAll(".grid .head > *")].find((e) => /^pause/.test(e.textContent.trim()));
				return head.getBoundingClientRect().right - document.querySelector(".grid").getBoundingClientRect().right;
			})()`); over > 0 {
				b.Errorf("the pause is %.0f pixels beyond the table", over)
			}
			if wide := eval[[]string](b, `[...document.querySelectorAll("main > section, main > section > *, .pair > *, .processes tr")].filter((e) => e.getBoundingClientRect().right > 353).map((e) => e.className || e.tagName)`); len(wide) > 0 {
				b.Errorf("too wide: %q", wide)
			}
			b.shoot("narrow-" + name)
		})
	}
}

// TestPrintedFindings: all findings are printed, and the providers, also those that are closed on
// the screen, and all columns of the table.
func TestPrintedFindings(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{720, 900}) // as wide as paper
	b.open(pageOf(t, fixture(trace)))
	const open = `document.querySelectorAll(".findings details[open]").length`
	all, before := eval[int](b, `document.querySelectorAll(".findings > ol > li > details").length`), eval[int](b, open)
	if before >= all {
		t.Fatalf("%d of %d findings are open", before, all)
	}
	if got := eval[int](b, `dispatchEvent(new Event("beforeprint")) && `+open); got != all {
		b.Errorf("%d of %d findings are printed", got, all)
	}
	if got := eval[int](b, `dispatchEvent(new Event("afterprint")) && `+open); got != before {
		b.Errorf("%d findings are open after that, were %d", got, before)
	}
	b.media("light", "print")
	if !eval[bool](b, `dispatchEvent(new Event("beforeprint")) && document.querySelector(".evidence details").open`) {
		b.Error("the recorded providers are not printed")
	}
	if over := eval[float64](b, `document.querySelector(".grid .head > :last-child").getBoundingClientRect().right - document.querySelector(".grid").getBoundingClientRect().right`); over > 0 {
		b.Errorf("the table is printed %.0f pixels too wide", over)
	}
}

// TestManyProcesses: of many processes the page lists those first that need a look, and the
// rest when asked.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	b := newTab(t, size{360, 740})
	b.open(pageOf(t, processes(t, 20)...))
	const rows = `document.querySelectorAll(".processes tbody tr").length`
	b.wait(rows + ` === 9`) // eight, and the selected one
	if first := eval[string](b, `document.querySelector(".processes tbody tr").textContent`); !strings.Contains(first, "pid 20") {
		b.Errorf("the first process is %s", first)
	}
	if cut := eval[[]string](b, `[...document.querySelectorAll(".processes td")].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.textContent)`); len(cut) > 0 {
		b.Errorf("beyond the screen: %q", cut)
	}
	if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		b.Errorf("the page is %d pixels too wide", over)
	}
	b.shoot("many-processes")
	b.click(".processes .more")
	b.wait(rows + ` === 20`)
	b.click(".processes .more")
	b.wait(rows + ` === 9`) // eight, and the selected one
}

// processes writes a trace for each of a number of processes; the last ones pause longest.
func processes(t *testing.T, n int) []string {
	t.Helper()
	var paths []string
	for pid := range n {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("p%d.nettrace", pid))
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := nettrace.NewWriter(out, nettrace.WriterOptions{Start: time.Unix(1, 0), PID: uint64(pid + 1)})
		if err != nil {
			t.Fatal(err)
		}
		maker := tracetest.Maker{PID: uint64(pid + 1), TID: 1}
		for i, e := range []clr.Event{
			&clr.GCSuspendEEBegin{Reason: clr.SuspendReasonSuspendForGC, Count: 0}, &clr.GCSuspendEEEnd{},
			&clr.GCStart{Count: 1, Reason: clr.GCReasonAllocSmall}, &clr.GCEnd{Count: 1}, &clr.GCRestartEEBegin{}, &clr.GCRestartEEEnd{},
		} {
			if err := w.Write(1, maker.At(time.Second+time.Duration(i)*time.Duration(pid+1)*10*time.Millisecond, e)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}
