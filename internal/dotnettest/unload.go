package dotnettest

import (
	"embed"
	"os"
	"path/filepath"
	"testing"
)

// The compiled unload/unload.cs.
//
//go:embed unload/unload.dll unload/unload.runtimeconfig.json
var unload embed.FS

// StartUnloading starts a program under .NET 10 that allocates in methods whose code is unloaded:
// see unload/unload.cs. It ends with the test.
func StartUnloading(t testing.TB, mode string) *Program {
	t.Helper()
	host := Lab(t)[0]
	dir := t.TempDir()
	if err := os.CopyFS(dir, unload); err != nil {
		t.Fatal(err)
	}
	p := &Program{Name: "unload", t: t, truth: filepath.Join(dir, "truth")}
	p.run(host, []string{filepath.Join(dir, "unload", "unload.dll"), mode, "300"}, nil)
	return p
}
