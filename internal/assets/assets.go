// Package assets holds the files that are embedded in gctrail: the script and the style of the
// page that shows collections in a browser, which Vite builds from web/src, and the licences of
// the software of others that is linked into gctrail.
package assets

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the files
	"io"
)

// Script is the page's program, to be run at the end of its body.
//
//go:embed page/page.js
var Script string

// Style is the page's style sheet.
//
//go:embed page/page.css
var Style string

//go:generate go -C ../../tools run ./licenses

// Packed, they take a fifteenth of the room in the binary.
//
//go:embed THIRD_PARTY_LICENSES.gz
var licenses []byte

// Licenses returns all licences, each under the name of its module.
func Licenses() string {
	z, err := gzip.NewReader(bytes.NewReader(licenses))
	if err != nil {
		panic(err) // it is part of the binary
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(text)
}
