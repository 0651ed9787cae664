package main

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"github.com/gctrail/gctrail/internal/assets"
	"github.com/gctrail/gctrail/internal/html"
)

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3b6fb6" d="M2 9h3v5H2zM6.5 5h3v9h-3zM11 2h3v12h-3z"/></svg>` + "\n"

const webManifest = `{
  "name": "gctrail",
  "description": "Opens traces of .NET's garbage collector in the browser",
  "start_url": "./",
  "display": "standalone",
  "background_color": "#f6f7f9",
  "theme_color": "#2f66b0",
  "icons": [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml"}]
}
`

// single returns the page with the module, which needs no other file, and no server.
func (p *pageParts) single(module []byte) string {
	return p.page("", "'none'", "", `<script type="text/plain" id="module">`+base64.StdEncoding.EncodeToString(module)+"</script>\n")
}

// served returns the page that loads the module from its server.
func (p *pageParts) served(module []byte) string {
	return p.page(` data-module="`+versionOf(module)+`"`, "'self'", "<link rel=\"manifest\" href=\"manifest.webmanifest\">\n", "")
}

// page returns the page with an attribute of its root, with links in its head and with data,
// which connects to the servers that the policy calls connect.
func (p *pageParts) page(attribute, connect, links, data string) string {
	return fmt.Sprintf(`<!doctype html>
<html lang="en"%s>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>gctrail</title>
<link rel="icon" href="data:image/svg+xml,%s">
%s<style>%s</style>
</head>
<body>
<div id="app"></div>
<noscript><p>This page needs JavaScript, and WebAssembly. It connects to nothing but the server that it is from.</p></noscript>
<script type="text/plain" id="worker">%s</script>
%s%s<script>%s</script>
</body>
</html>
`, attribute, p.policy(connect), url.PathEscape(strings.TrimSpace(icon)), links, p.style, p.worker, p.warm, data, p.script)
}

// policy allows the scripts and styles of this page, and of the pages that it makes, which
// inherit the policy. Nobody else is asked for anything.
func (p *pageParts) policy(connect string) string {
	return strings.Join([]string{
		"default-src 'none'",
		fmt.Sprintf("script-src '%s' '%s' 'wasm-unsafe-eval'", html.Hash(p.script), html.Hash(assets.Script)),
		fmt.Sprintf("style-src '%s' '%s'", html.Hash(p.style), html.Hash(assets.Style)),
		"connect-src " + connect,
		"worker-src 'self' blob:",
		"frame-src blob:",
		"img-src 'self' data:",
		"manifest-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
	}, "; ")
}
