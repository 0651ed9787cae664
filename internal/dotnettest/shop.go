package dotnettest

import (
	"embed"
	"os"
	"path/filepath"
	"testing"
)

// The compiled shop/shop.cs.
//
//go:embed shop/shop.dll shop/shop.runtimeconfig.json
var shop embed.FS

// Shop returns the command line of a program under .NET 10 that serves 240 requests and ends:
// see shop/shop.cs.
func Shop(t testing.TB) []string {
	t.Helper()
	host := Lab(t)[0]
	dir := t.TempDir()
	if err := os.CopyFS(dir, shop); err != nil {
		t.Fatal(err)
	}
	return []string{host, filepath.Join(dir, "shop", "shop.dll")}
}
