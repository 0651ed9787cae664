package dotnettest

import (
	"embed"
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
	return hosted(t, shop, "shop")
}
