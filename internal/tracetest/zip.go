package tracetest

import (
	"archive/zip"
	"io"
	"testing"
)

// Unzipped returns the first file of a .etl.zip.
func Unzipped(t testing.TB, path string) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	r, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
