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
	return run(t, "unload", filepath.Join(t.TempDir(), "truth"), append(hosted(t, unload, "unload"), mode, "300"))
}
