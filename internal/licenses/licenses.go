// Package licenses holds the licences of the software of others that is linked
// into gctrail.
package licenses

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the licences
	"io"
)

//go:generate go -C ../../tools run ./licenses

// Packed, they take a fifteenth of the room in the binary.
//
//go:embed THIRD_PARTY_LICENSES.gz
var packed []byte

// Text returns all of them, each under the name of its module.
func Text() string {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // it is part of the binary
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(text)
}
