package browser

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// packedExtension is the packed extension for VS Code.
var packedExtension = sync.OnceValues(func() (string, error) {
	page, err := webpage()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(page + ".vsix"); err == nil {
		return page + ".vsix", nil
	}
	dir, err := os.MkdirTemp("", "gctrail") // the page was packed without it
	if err != nil {
		return "", err
	}
	page = filepath.Join(dir, "web")
	return page + ".vsix", goRoot("run", "./deploy/release", "webpage", page, page+".zip", page+".vsix")
})

// extension is the folder of the packed extension, unpacked once.
var extension = sync.OnceValues(func() (string, error) {
	path, err := packedExtension()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "gctrail")
	if err != nil {
		return "", err
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return "", err
	}
	defer z.Close()
	return filepath.Join(dir, "extension"), os.CopyFS(dir, z)
})

// An editorHost runs the extension, with an API of VS Code that is made for tests.
type editorHost struct{ url, saves string }

func startHost(t *testing.T) editorHost {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node, which runs the extension")
	}
	chromium(t)
	dir, err := extension()
	if err != nil {
		t.Fatal(err)
	}
	h := editorHost{saves: t.TempDir()}
	cmd := exec.Command(node, filepath.Join(root, "editor/vscode/test/host.mjs"), dir, h.saves)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	h.url = strings.TrimSpace(line)
	return h
}

// codeAPI stands in for the API of VS Code in webviews: its messages go to the host. VS Code
// gives the body the class of the theme.
const codeAPI = `
	window.acquireVsCodeApi = () => {
		const { panel } = document.documentElement.dataset;
		const base64 = (buffer) => new Promise((done) => {
			const reader = new FileReader();
			reader.onload = () => done({ bytes: reader.result.split(",")[1] ?? "" });
			reader.readAsDataURL(new Blob([buffer]));
		});
		const hear = async () => {
			const response = await fetch("/next/" + panel);
			const message = JSON.parse(await response.text(), (_, v) => typeof v?.bytes === "string" ? Uint8Array.from(atob(v.bytes), (c) => c.charCodeAt(0)) : v);
			dispatchEvent(new MessageEvent("message", { data: message }));
			hear();
		};
		hear();
		window.sent = [];
		return {
			async postMessage(message) {
				const packed = message.data ? { ...message, data: await base64(message.data) } : message;
				await fetch("/said/" + panel, { method: "POST", body: JSON.stringify(packed) });
				sent.push(message.kind);
			},
		};
	};
	if (top === self) addEventListener("DOMContentLoaded", () => document.body.classList.add(new URLSearchParams(location.search).get("theme") ?? "vscode-light"));
`

// editorTab shows an editor of files, and waits until the page about them is shown.
func editorTab(t *testing.T, h editorHost, route, theme string, paths ...string) *tab {
	t.Helper()
	b := editorPage(t, h, route, theme, paths...)
	b.wait(`document.querySelector("iframe, .failure")`)
	if failure := eval[string](b, `document.querySelector(".failure")?.textContent ?? ""`); failure != "" {
		b.Fatalf("%s: %s", paths, failure)
	}
	b.wait(framed("true"))
	return b
}

// editorPage shows an editor of files.
func editorPage(t *testing.T, h editorHost, route, theme string, paths ...string) *tab {
	t.Helper()
	b := newTab(t, size{1280, 900})
	b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: codeAPI}))
	query := url.Values{"theme": {theme}, "kind": {"compare"}}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		b.must(err)
		query.Add("file", path)
	}
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(h.url+"/"+route+"?"+query.Encode())))
	return b
}

// saved presses a button of the menu, and returns the saved file.
func (h editorHost) saved(b *tab, button, suffix string) string {
	b.Helper()
	n := eval[int](b, `sent.filter((kind) => kind === "save").length`)
	b.press(button)
	b.wait(fmt.Sprintf(`sent.filter((kind) => kind === "save").length > %d || document.querySelector(".failure")`, n))
	found, err := filepath.Glob(filepath.Join(h.saves, "*"+suffix))
	if err != nil || len(found) != 1 {
		b.Fatalf("saved: %q, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	b.must(err)
	b.must(os.Remove(found[0]))
	return string(data)
}

// unblamed fails the test where a page in an editor requested anything but files of the
// extension, or violated its policy.
func (b *tab) unblamed(h editorHost) {
	b.Helper()
	if violations := eval[[]string](b, `[...violations, ...(document.querySelector("iframe")?.contentWindow.violations ?? [])]`); len(violations) > 0 {
		b.Errorf("violations of the policy: %q", violations)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.Error(fault)
	}
	for _, request := range b.requests {
		path := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(request, "GET "), "POST "), h.url)
		if !strings.HasPrefix(path, "/files/dist/") && !strings.HasPrefix(path, "/said/") && !strings.HasPrefix(path, "/next/") && !strings.HasPrefix(path, "/editor?") && !strings.HasPrefix(path, "/several?") {
			b.Errorf("a request for %s", path)
		}
	}
}

// TestEditorOpens: editors of VS Code open files of each format as the program does.
func TestEditorOpens(t *testing.T) {
	t.Parallel()
	h := startHost(t)
	for _, name := range []string{
		"net10-wks-stacks.nettrace.gz", "net21-win-x86-objver3.netperf.gz", "net8-win-x64-gcevents.etl.zip", "net31-net9-lttng.trace.zip",
	} {
		t.Run(name, func(t *testing.T) {
			path := fixture(name)
			b := editorTab(t, h, "editor", "vscode-dark", path)
			if want, got := reported(t, path), h.saved(b, "report", ".json"); got != want {
				t.Error(firstDifference(got, want))
			}
			b.shoot("vscode-" + name)
			b.unblamed(h)
		})
	}
}

// TestEditorOpensSnapshot: an editor shows a heap snapshot, and saves it as the program does.
func TestEditorOpensSnapshot(t *testing.T) {
	t.Parallel()
	h := startHost(t)
	path := fixture("net8-wks-rich.gcdump.gz")
	b := editorTab(t, h, "editor", "vscode-dark", path)
	b.wait(framed(`d.querySelectorAll(".of-types tbody tr").length > 10`))
	out := filepath.Join(t.TempDir(), "out")
	gctrail(t, "convert", "--to", "heapsnapshot", "-o", out, path)
	want, err := os.ReadFile(out)
	b.must(err)
	if got := h.saved(b, "heapsnapshot", ".heapsnapshot"); got != string(want) {
		t.Error(firstDifference(got, string(want)))
	}
	b.shoot("vscode-snapshot")
	b.unblamed(h)
}

// TestEditorRefuses: a file that is no trace is refused in words.
func TestEditorRefuses(t *testing.T) {
	t.Parallel()
	h := startHost(t)
	b := editorPage(t, h, "editor", "vscode-dark", filepath.Join(root, "go.mod"))
	b.wait(`/go.mod: .*not a trace/.test(document.querySelector(".failure")?.textContent)`)
	b.wait(`[...document.querySelectorAll("button")].some((e) => e.textContent === "Read again")`)
	b.shoot("vscode-refused")
	b.unblamed(h)
}

// TestEditorThemes: the page in an editor has the colours of VS Code's theme, also when it
// changes.
func TestEditorThemes(t *testing.T) {
	t.Parallel()
	h := startHost(t)
	b := editorTab(t, h, "editor", "vscode-light", fixture("net10-wks-stacks.nettrace.gz"))
	b.media("dark", "") // of the system, which does not matter
	surface := func() string {
		return eval[string](b, framed(`getComputedStyle(d.body).backgroundColor + getComputedStyle(document.querySelector(".bar")).backgroundColor`)+` + ""`)
	}
	b.shoot("vscode-light")
	light := surface()
	eval[bool](b, `(document.body.className = "vscode-dark", true)`)
	b.wait(framed(`d.documentElement.dataset.theme === "dark"`))
	b.settle()
	b.shoot("vscode-dark")
	dark := surface()
	eval[bool](b, `(() => {
		for (const [name, value] of Object.entries({ "editor-background": "#000000", "editor-foreground": "#ffffff", "contrastBorder": "#6fc3df", "textLink-foreground": "#21a6ff" })) document.documentElement.style.setProperty("--vscode-" + name, value);
		document.body.className = "vscode-high-contrast";
		return true;
	})()`)
	b.wait(framed(`getComputedStyle(d.body).backgroundColor === "rgb(0, 0, 0)"`))
	b.settle()
	b.shoot("vscode-contrast")
	if contrast := surface(); light == dark || dark == contrast || contrast != "rgb(0, 0, 0)rgb(0, 0, 0)" {
		t.Errorf("light %s, dark %s, high contrast %s", light, dark, contrast)
	}
	b.unblamed(h)
}

// TestEditorCompares: several files are compared in an editor, the first half as it is proposed.
func TestEditorCompares(t *testing.T) {
	t.Parallel()
	h := startHost(t)
	before, after := fixture("net10-srv-web-1.nettrace.gz"), fixture("net10-srv-web-2.nettrace.gz")
	b := editorTab(t, h, "several", "vscode-dark", before, after)
	native := newTab(t, size{1280, 900})
	path := filepath.Join(t.TempDir(), "diff.html")
	gctrail(t, "diff", "--format", "html", "-o", path, before, after)
	native.open("file://" + path)
	const sentence = `d.querySelector(".verdict .sentence").textContent`
	if got, want := eval[string](b, framed(sentence)), eval[string](native, strings.ReplaceAll(sentence, "d.", "document.")); got != want || want == "" {
		t.Errorf("%q, want %q", got, want)
	}
	b.shoot("vscode-compare")
	b.unblamed(h)
}

// TestEditorNames: clicks on names ask for their source. Where a click does something else, it
// takes Ctrl.
func TestEditorNames(t *testing.T) {
	t.Parallel()
	h := startHost(t)
	b := editorTab(t, h, "editor", "vscode-light", fixture("net10-wks-stacks.nettrace.gz"))
	b.wait(framed(`d.querySelector(".flame td.code")`))
	asked := func(selector string, ctrl bool) int {
		n := eval[int](b, `sent.filter((kind) => kind === "source").length`)
		if !eval[bool](b, framed(fmt.Sprintf(`(() => {
			const e = d.querySelector(%q);
			e?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: %t }));
			return e !== null;
		})()`, selector, ctrl))) {
			t.Fatalf("there is no %s", selector)
		}
		b.settle()
		return eval[int](b, `sent.filter((kind) => kind === "source").length`) - n
	}
	for _, c := range []struct {
		selector string
		ctrl     bool
		want     int
	}{
		{".flame td.code", false, 1},
		{".types td.code button", false, 0},
		{".types td.code button", true, 1},
		{".flame canvas", true, 1},
		{"h1", true, 0},
	} {
		if got := asked(c.selector, c.ctrl); got != c.want {
			t.Errorf("a click on %s, Ctrl %t: asks %d times, want %d", c.selector, c.ctrl, got, c.want)
		}
	}
	b.unblamed(h)
}

// TestEditorKeys: keys that the page about a trace has no use for reach the window, where VS Code
// listens for shortcuts. Ctrl+Enter on a name asks for its source.
func TestEditorKeys(t *testing.T) {
	t.Parallel()
	h := startHost(t)
	b := editorTab(t, h, "editor", "vscode-light", fixture("net10-wks-stacks.nettrace.gz"))
	b.wait(framed(`d.querySelector(".types td.code button")`))
	eval[bool](b, `(window.heard = [], addEventListener("keydown", (e) => heard.push(e.key)), true)`)
	eval[bool](b, framed(`["p", "Enter"].forEach((key) => d.querySelector(".types td.code button").dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey: true, bubbles: true, cancelable: true }))) ?? true`))
	b.wait(`sent.includes("source")`)
	if heard := eval[[]string](b, "heard"); len(heard) != 1 || heard[0] != "p" {
		t.Errorf("the window hears %q", heard)
	}
	b.unblamed(h)
}
