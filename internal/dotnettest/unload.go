package dotnettest

import (
	"embed"
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
	command := hosted(t, unload, "unload")
	p := &Program{Name: "unload", t: t, truth: filepath.Join(t.TempDir(), "truth")}
	p.run(command[0], append(command[1:], mode, "300"), nil)
	return p
}
