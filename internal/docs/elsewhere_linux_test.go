package docs

import (
	"os/exec"
	"strings"
	"testing"
)

// elsewhere are the commands that are not run here, and why. The probe is a script, run in a
// clone of the repository, that must fail: it succeeds where the command could be run here, or
// is no longer run where the reason says.
var elsewhere = []struct{ begins, why, probe string }{
	{"gctrail collect --etw", "needs the kernel of Windows", "uname | grep -v Linux"},
	{"gctrail collect -n w3wp", "needs .NET Framework, on Windows", "uname | grep -v Linux"},
	{"kubectl", "needs a Kubernetes cluster; test/deploy checks what the commands send and need", "kubectl cluster-info"},
	{"helm", "needs a Kubernetes cluster; test/deploy renders the chart", "kubectl cluster-info"},
	{"brew", "needs Homebrew and a release", "command -v brew"},
	{"winget", "needs Windows and a release", "command -v winget"},
	{"code --install-extension", "needs VS Code's program; test/browser runs the extension in VS Code's server", "command -v code"},
	{"npm install --global gctrail", "needs a release; .ci/release_check.py installs the packages from a registry of its own", "! grep 'npm.*install' .ci/release_check.py"},
	{"dotnet tool install", "needs the SDK of .NET and a release", "command -v dotnet"},
	{"npm pack @microsoft/winappcli", "needs npm's registry, and fetches a program for Windows", "command -v winapp"},
	{"curl -fLO https://raw.githubusercontent.com", "needs a release; test/supply runs the script that it fetches", "! grep install.sh test/supply/install_test.go"},
	{"gh attestation", "needs a release; test/supply runs the script that does this", "! grep gh test/supply/install_test.go"},
	{"cosign", "needs a release; test/supply verifies signatures", "! grep cosign test/supply/cosign_test.go"},
	{"skopeo copy", "needs a registry; .ci/release_check.py reads the image with skopeo", "! grep skopeo .ci/release_check.py"},
	{"wasmtime", "wasmtime cannot be had; .ci/release runs the module in Node.js", "command -v wasmtime"},
	{"CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' ./cmd/gctrail", ".ci/run has a step that runs it", "! grep -e \"go build -trimpath -ldflags='-s -w'\" .ci/run"},
	{"go run -C deploy/image", ".ci/release runs it, and .ci/release_check.py runs the program of the image", "! grep deploy/image .ci/release"},
	{"GOOS=windows go build", ".ci/windows builds it", "! grep GOOS=windows .ci/windows"},
	{"DOTNET_GCgen0size=20000 wine64", "needs Wine and the program of npm's package", "command -v winapp"},
	{"duckdb", "DuckDB's shell cannot be had; test/exports reads Parquet with its library", "command -v duckdb"},
	{"DOTNET_STARTUP_HOOKS", "needs a program of npm's registry", "command -v Sarif.Multitool"},
	{"python3 clients.py", "needs the program of the line before", "command -v Sarif.Multitool"},
	{"python3 compare.py", "needs the program of the line before", "command -v Sarif.Multitool"},
	{"bash .ci/run", "is the program that runs this test", "! test -f .ci/run"},
	{"bash .ci/site", ".ci/run has a step that runs it", "! grep 'bash .ci/site' .ci/run"},
	{"bash .ci/release", ".ci/run has a step that runs it", "! grep 'bash .ci/release' .ci/run"},
	{"go run ./cmd/gctrail demo", ".ci/run has a step that runs it", "! grep 'go run ./cmd/gctrail demo' .ci/run"},
	{"go test", ".ci/run tests all packages, and fuzzes all targets", "! grep -e '-fuzz' .ci/run"},
	{"go tool", ".ci/run formats and lints", "! grep 'tool gofumpt' .ci/run"},
	{"GCTRAIL_OVERHEAD=5 go test", "takes up to an hour", "! grep 'func TestOverhead' internal/cli/overhead_test.go"},
	{"GCTRAIL_POOLS=$PWD/pools go test", "needs the traces of 78 runs", "! grep 'func TestDraws' internal/cli/draws_test.go"},
	{"go -C tools run ./mutate", "takes many minutes", "! test -d tools/mutate"},
	{"go run ./deploy/release webpage", ".ci/site and test/browser build the page and the extension", "! grep 'deploy/release webpage' .ci/site"},
}

// elsewhere checks the list, and returns the function that reports whether a command is in it.
func (w *world) elsewhere(t *testing.T) func(*Command) bool {
	t.Helper()
	used := map[string]bool{}
	t.Cleanup(func() {
		for _, e := range elsewhere {
			if !used[e.begins] {
				t.Errorf("no document has %s: take it from the list of what is run elsewhere", e.begins)
			}
		}
	})
	for _, e := range elsewhere {
		probe := exec.Command("bash", "-c", e.probe)
		probe.Dir = mounted + "/repo"
		if out, err := probe.CombinedOutput(); err == nil {
			t.Errorf("%s could be run, or is run nowhere any more: %s succeeds: %s", e.begins, e.probe, out)
		}
	}
	return func(c *Command) bool {
		for _, e := range elsewhere {
			if strings.HasPrefix(c.Line, e.begins) {
				used[e.begins] = true
				return true
			}
		}
		return false
	}
}
