package open

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"testing"
	"testing/iotest"
)

// TestAhead reads more than all chunks have room for, in pieces of any size, up to
// the error of the input.
func TestAhead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	want := bytes.Repeat([]byte("0123456789abcdef!"), 3*aheadSize*aheadChunks/16)
	broken := errors.New("disk gone")
	for _, in := range []io.Reader{bytes.NewReader(want), iotest.HalfReader(bytes.NewReader(want)), iotest.DataErrReader(bytes.NewReader(want))} {
		r, stop := ahead(io.MultiReader(in, iotest.ErrReader(broken)))
		got, err := io.ReadAll(iotest.HalfReader(r))
		if !bytes.Equal(got, want) || !errors.Is(err, broken) {
			t.Errorf("%d bytes and %v, want %d and %v", len(got), err, len(want), broken)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestAheadStopped stops a reader before its end: nothing waits forever.
func TestAheadStopped(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	r, stop := ahead(bytes.NewReader(make([]byte, 10*aheadSize*aheadChunks)))
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after the end: %v, want %v", err, fs.ErrClosed)
	}
}
