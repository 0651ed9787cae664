// Package web holds the page that shows collections in a browser: the script and
// the style that Vite builds from src. Build them again with npm run build.
package web

import _ "embed" // the page

// Script is the page's program, to be run at the end of its body.
//
//go:embed dist/page.js
var Script string

// Style is the page's style sheet.
//
//go:embed dist/page.css
var Style string
