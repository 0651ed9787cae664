package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/gctrail/gctrail/internal/extent"
)

// webpage is the folder of the page that opens traces: $GCTRAIL_WEBPAGE, or packed once, with
// the extension for VS Code beside it, in a file with the same name and .vsix.
var webpage = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("GCTRAIL_WEBPAGE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.MkdirTemp("", "gctrail")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "web")
	return dir, goRoot("run", "./deploy/release", "webpage", dir, dir+".zip", dir+".vsix")
})

// serveOpen serves the page that opens traces from a plain file server. Nothing stays in the
// browser's cache, so that only the page's service worker can make it work offline.
func serveOpen(t *testing.T) *httptest.Server {
	t.Helper()
	dir, err := webpage()
	if err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// keepBlobs keeps the contents of saved files, because a test does not see downloads.
const keepBlobs = `
	window.blobs = [];
	const made = URL.createObjectURL;
	URL.createObjectURL = (blob) => {
		blobs.push(blob);
		return made.call(URL, blob);
	};
`

// openTab opens the page that opens traces, and waits until it is ready.
func openTab(t *testing.T, of size, url string) *tab {
	t.Helper()
	return openIn(newTab(t, of), url)
}

// openIn opens the page that opens traces in a tab, and waits until it is ready.
func openIn(b *tab, url string) *tab {
	b.Helper()
	b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: keepBlobs}))
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(url)))
	b.wait(`/Ready/.test(document.querySelector("[role=status]")?.textContent)`)
	return b
}

// choose selects files in the page's file dialog.
func (b *tab) choose(paths ...string) {
	b.Helper()
	for i := range paths {
		path, err := filepath.Abs(paths[i])
		b.must(err)
		paths[i] = path
	}
	b.must2(chromedp.Run(b.ctx, chromedp.SetUploadFiles(chromedp.CSS(".drop input[multiple]"), paths)))
}

// framed returns an expression that is evaluated with d as the document of the trace's page.
func framed(expression string) string {
	return `((d) => d?.documentElement?.dataset.ready !== undefined && (` + expression + `))(document.querySelector("iframe")?.contentDocument)`
}

// shows opens files, and waits for their page.
func (b *tab) shows(paths ...string) {
	b.Helper()
	b.choose(paths...)
	b.wait(`document.querySelector("iframe, .failure")`)
	if failure := eval[string](b, `document.querySelector(".failure")?.textContent ?? ""`); failure != "" {
		b.Fatalf("%s: %s", paths, failure)
	}
	b.wait(framed("true"))
}

// save presses a button of the menu, and returns the file that it saves.
func (b *tab) save(button string) string {
	b.Helper()
	n := eval[int](b, `blobs.length`)
	b.press(button)
	b.wait(fmt.Sprintf(`blobs.length > %d || document.querySelector(".failure")`, n))
	if failure := eval[string](b, `document.querySelector(".failure")?.textContent ?? ""`); failure != "" {
		b.Fatalf("%s: %s", button, failure)
	}
	b.wait(`!document.querySelector(".reading")`)
	return eval[string](b, fmt.Sprintf(`blobs.slice(%d).find((b) => b.type === "").text()`, n))
}

// press clicks the button whose text begins with words.
func (b *tab) press(words string) {
	b.Helper()
	if !eval[bool](b, fmt.Sprintf(`(() => {
		const button = [...document.querySelectorAll("button")].find((e) => e.textContent.startsWith(%q) && !e.disabled);
		button?.click();
		return button !== undefined;
	})()`, words)) {
		b.Fatalf("there is no button %q", words)
	}
}

// own fails the test if the page, or the trace's page in it, requested anything but its own
// files, or violated its content security policy.
func (b *tab) own(address string) {
	b.Helper()
	b.within(address)
	if violations := eval[[]string](b, `[...(document.querySelector("iframe")?.contentWindow.violations ?? [])]`); len(violations) > 0 {
		b.Errorf("violations of the policy by the page of a trace: %q", violations)
	}
	allowed := []string{"/", "/gctrail.wasm.gz", "/offline.js", "/manifest.webmanifest", "/icon.svg"}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range b.requests {
		if path, _, _ := strings.Cut(strings.TrimPrefix(request, "GET "+address), "?"); !slices.Contains(allowed, path) {
			b.Errorf("a request for %s", path)
		}
	}
}

// reported returns the native program's report on a file. The program gets the file's name
// without its folder, because a browser knows no more.
func reported(t *testing.T, path string) string {
	t.Helper()
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "report", "--format", "json", "--full", filepath.Base(path))
	cmd.Dir = filepath.Dir(path)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(out)
}

// openable returns traces of all formats.
func openable(t *testing.T) []string {
	t.Helper()
	patterns := []string{filepath.Join(root, "testdata/*.net*.gz"), filepath.Join(root, "testdata/*.zip")}
	if shared := os.Getenv("GCTRAIL_SHARED"); shared != "" {
		for _, pattern := range []string{"eventpipe/*.net*.gz", "etw/*.zip", "lttng/*.zip", "lttng/*.tar.xz"} {
			patterns = append(patterns, filepath.Join(shared, "traces", pattern))
		}
	}
	var all []string
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, paths...)
	}
	if len(all) < 40 {
		t.Fatalf("%d traces", len(all))
	}
	if extent.All() {
		return extent.Share(all, 6)
	}
	var sample []string
	for i, path := range all {
		if i%8 == 0 || strings.Contains(path, ".etl") {
			sample = append(sample, path)
		}
	}
	return sample
}

// TestOpenPage: reports on traces of all formats equal the native program's, and the page
// requests nothing but its own files.
func TestOpenPage(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	for _, path := range openable(t) {
		b.shows(path)
		want, got := reported(t, path), b.save("report")
		if got != want {
			t.Errorf("%s: %s", path, firstDifference(got, want))
		}
		b.own(server.URL)
		b.press("Open another")
		b.wait(`document.querySelector(".drop")`)
	}
	b.own(server.URL)
}

// firstDifference describes the first of two texts that differ.
func firstDifference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-60)
	return fmt.Sprintf("%q, want %q", got[from:min(len(got), i+60)], want[from:min(len(want), i+60)])
}

// TestOpenFromDisk: the page as a single file works without a server.
func TestOpenFromDisk(t *testing.T) {
	t.Parallel()
	dir, err := webpage()
	if err != nil {
		t.Fatal(err)
	}
	url := "file://" + filepath.Join(dir, "gctrail.html")
	b := openTab(t, size{1280, 900}, url)
	path := fixture("net8-win-x64-gcevents.etl.zip")
	b.choose(path)
	b.wait(`document.querySelector("iframe")`) // of another origin, as all files are, so that framed sees nothing
	if want, got := reported(t, path), b.save("report"); got != want {
		t.Error(firstDifference(got, want))
	}
	b.shoot("open-from-disk")
	b.blameless("GET " + url)
}

// TestOpenFromDiskRefused: the page that loads its module says from disk why it cannot, and which file can.
func TestOpenFromDiskRefused(t *testing.T) {
	t.Parallel()
	dir, err := webpage()
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, size{360, 740})
	b.must(chromedp.Do(b.ctx, chromedp.Navigate("file://"+filepath.Join(dir, "index.html"))))
	b.wait(`/opened from disk.*gctrail\.html/.test(document.querySelector(".failure")?.textContent)`)
	b.shoot("open-from-disk-refused")
}

// TestOpenSnapshot: the page of a heap snapshot lists its objects.
func TestOpenSnapshot(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	b.shows(fixture("net8-wks-rich.gcdump.gz"))
	b.wait(framed(`d.querySelectorAll(".of-types tbody tr").length > 10`))
	if nodes := b.save("heapsnapshot"); !strings.HasPrefix(nodes, `{"snapshot"`) || !json.Valid([]byte(nodes)) {
		t.Errorf("%.100s", nodes)
	}
	b.own(server.URL)
}

// TestOpenGrowth: two heap snapshots share a page.
func TestOpenGrowth(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	later := filepath.Join(t.TempDir(), "later.gcdump.gz")
	data, err := os.ReadFile(fixture("net8-wks-rich.gcdump.gz"))
	if err != nil {
		t.Fatal(err)
	}
	b := openTab(t, size{1280, 900}, server.URL)
	b.must(os.WriteFile(later, data, 0o600))
	b.choose(later, fixture("net8-wks-rich.gcdump.gz"))
	b.wait(`document.querySelector(".files")`)
	b.press("Open together")
	b.wait(framed(`d.body.textContent.includes("later.gcdump.gz") && d.querySelectorAll(".of-types tbody tr").length > 10`))
	b.own(server.URL)
}

// TestOpenExports: saved files equal the output of gctrail convert.
func TestOpenExports(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	path := fixture("net10-wks-stacks.nettrace.gz")
	b.shows(path)
	for _, format := range []string{"csv", "jsonl", "openmetrics", "firefox", "speedscope"} {
		out := filepath.Join(t.TempDir(), "out")
		gctrail(t, "convert", "--to", format, "-o", out, path)
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(b.save(format), filepath.Base(path), path)
		if got != string(want) {
			t.Errorf("%s: %s", format, firstDifference(got, string(want)))
		}
	}
	b.own(server.URL)
}

// TestOpenRedacted: a redacted report has none of the program's names.
func TestOpenRedacted(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	b.shows(fixture("net10-wks-stacks.nettrace.gz"))
	if plain := b.save("report"); !strings.Contains(plain, "GcLoad") {
		t.Error("the report does not name the program")
	}
	b.press("Redact")
	b.wait(`![...document.querySelectorAll("button")].some((e) => e.textContent === "Redact")`)
	b.wait(framed("true"))
	redacted := b.save("report")
	for _, name := range []string{"GcLoad", "stacks.nettrace"} {
		if strings.Contains(redacted, name) {
			t.Errorf("the report has %s: %.300s", name, redacted)
		}
	}
	b.own(server.URL)
}

// TestOpenCompares: the verdict of a comparison equals that of gctrail diff.
func TestOpenCompares(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	before, after := fixture("net10-srv-web-1.nettrace.gz"), fixture("net10-srv-web-2.nettrace.gz")
	const sentence = `d.querySelector(".verdict .sentence").textContent`
	native := newTab(t, size{1280, 900})
	path := filepath.Join(t.TempDir(), "diff.html")
	gctrail(t, "diff", "--format", "html", "-o", path, before, after)
	native.open("file://" + path)
	want := eval[string](native, strings.ReplaceAll(sentence, "d.", "document."))
	b.choose(before, after)
	b.wait(`document.querySelector(".files")`)
	b.press("Compare")
	b.wait(framed("true"))
	if got := eval[string](b, framed(sentence)); got != want || want == "" {
		t.Errorf("%q, want %q", got, want)
	}
	b.own(server.URL)
}

// TestOpenRefuses: the page explains why it refuses a file, and can still open a trace.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{360, 740}, server.URL)
	notes := filepath.Join(t.TempDir(), "notes.txt")
	b.must(os.WriteFile(notes, []byte("no trace"), 0o600))
	b.choose(notes)
	b.wait(`/notes.txt: .*not a trace/.test(document.querySelector(".failure")?.textContent)`)
	b.shows(fixture(trace))
	b.own(server.URL)
}

// TestOpenOffline: after the first visit, the page works without its server, and the browser offers to
// install it.
func TestOpenOffline(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	// In a browser of its own: others keep nothing, and install nothing.
	b := openIn(ownTab(t, 5*time.Minute, size{1280, 900}), server.URL)
	b.wait(`navigator.serviceWorker.controller`)
	lacks, err := chromedp.Call(b.ctx, page.GetInstallabilityErrors, cdp.Empty{})
	b.must(err)
	for _, lack := range lacks.InstallabilityErrors {
		t.Errorf("the page cannot be installed: %s", lack.ErrorID)
	}
	server.Close()
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(server.URL)))
	b.wait(`/Ready/.test(document.querySelector("[role=status]")?.textContent)`)
	b.shows(fixture(trace))
	b.own(server.URL)
}

// TestOpenLooks: the page fits windows of three sizes in both colour schemes, and axe finds no
// serious violation, neither in it nor in the report that it shows.
func TestOpenLooks(t *testing.T) {
	t.Parallel()
	axe, axeErr := os.ReadFile("node_modules/axe-core/axe.min.js")
	server := serveOpen(t)
	for _, of := range []size{{360, 740}, {1280, 900}, {2560, 1440}} {
		t.Run(strconv.FormatInt(of.width, 10), func(t *testing.T) {
			t.Parallel()
			b := newTab(t, of)
			b.axeInFrames()
			openIn(b, server.URL)
			fits := func(state string, frames ...string) {
				for _, scheme := range []string{"light", "dark"} {
					b.media(scheme, "")
					b.shoot(fmt.Sprintf("open-%s-%d-%s", state, of.width, scheme))
					if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
						t.Errorf("%s, %s: %d pixels too wide", state, scheme, over)
					}
					if axeErr == nil {
						b.accessible(string(axe), state+", "+scheme)
						b.accessibleFrames(state+", "+scheme, frames...)
					}
				}
			}
			fits("empty")
			b.choose(fixture(trace), fixture("net10-wks-stacks.nettrace.gz"))
			b.wait(`document.querySelector(".files")`)
			fits("several")
			b.choose(fixture("net10-wks-stacks.nettrace.gz"))
			b.wait(framed("true"))
			eval[bool](b, `(document.querySelector(".menu").open = true)`)
			fits("shown", framed("d"))
			b.own(server.URL)
		})
	}
	if axeErr != nil {
		t.Skip("axe did not run: npm ci in test/browser installs it")
	}
}

// TestOpenCancel: a cancelled reading shows nothing, and the next one works.
func TestOpenCancel(t *testing.T) {
	t.Parallel()
	server := serveOpen(t)
	b := openTab(t, size{1280, 900}, server.URL)
	// Press Cancel as soon as it appears: a small trace would be read before the test could.
	eval[bool](b, `(window.seen = new MutationObserver(() => {
		const cancel = [...document.querySelectorAll("button")].find((e) => e.textContent === "Cancel");
		if (cancel) { seen.disconnect(); cancel.click(); }
	})).observe(document.body, { childList: true, subtree: true }) ?? true`)
	b.choose(fixture(trace))
	b.wait(`window.seen && !document.querySelector(".reading")`)
	if eval[bool](b, `!!document.querySelector("iframe, .failure")`) {
		t.Error("the page shows what was cancelled")
	}
	b.shows(fixture(trace))
	b.own(server.URL)
}
