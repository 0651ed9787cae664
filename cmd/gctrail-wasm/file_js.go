package main

import (
	"errors"
	"io"
	"syscall/js"
)

const (
	// window is how many bytes are asked of the browser at once: each time takes a message to
	// another process of it.
	window = 1 << 20
	// windows are kept, because an .etl is read in several places in turns.
	windows = 8
)

// A file is a File or Blob of the browser. Reading blocks the worker, which has nothing else
// to do; the page ends the worker to cancel it.
type file struct {
	blob   js.Value
	reader js.Value // a FileReaderSync
	size   int64
	recent []span // the latest first
}

// A span is a part of a file that was read, outside of Go's memory.
type span struct {
	off   int64
	bytes js.Value // a Uint8Array
	n     int
}

func newFile(blob js.Value, size int64) *file {
	return &file{blob: blob, reader: js.Global().Get("FileReaderSync").New(), size: size}
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if at < 0 || at >= f.size {
			return n, io.EOF
		}
		s, err := f.span(at / window * window)
		if err != nil {
			return n, err
		}
		from := int(at - s.off)
		if from >= s.n {
			return n, io.ErrUnexpectedEOF // the file has become shorter
		}
		n += js.CopyBytesToGo(p[n:], s.bytes.Call("subarray", from, s.n))
	}
	return n, nil
}

// span returns the part of the file from a multiple of window on.
func (f *file) span(off int64) (span, error) {
	i := 0
	for i < len(f.recent) && f.recent[i].off != off {
		i++
	}
	if i == len(f.recent) {
		s, err := f.read(off)
		if err != nil {
			return s, err
		}
		if i == windows {
			i--
			f.recent[i] = s
		} else {
			f.recent = append(f.recent, s)
		}
	}
	s := f.recent[i]
	copy(f.recent[1:], f.recent[:i])
	f.recent[0] = s
	return s, nil
}

// read asks the browser for a part of the file, which it refuses where the file has changed.
func (f *file) read(off int64) (s span, err error) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case js.Error:
			err = errors.New("the browser does not read the file: " + thrown.Get("message").String())
		default:
			panic(thrown)
		}
	}()
	buffer := f.reader.Call("readAsArrayBuffer", f.blob.Call("slice", off, min(off+window, f.size)))
	return span{off, js.Global().Get("Uint8Array").New(buffer), buffer.Get("byteLength").Int()}, nil
}
