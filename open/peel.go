package open

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/trace"
)

const (
	// sniffLen is how much of an input is examined. A tar archive is recognized by its
	// bytes from 257 on.
	sniffLen = 1 << 10
	// readAhead is the size of a layer's reads from the layer outside.
	readAhead = 64 << 10
	// maxDepth is how many wrappings may lie one inside another.
	maxDepth = 3
	// maxWindow bounds the window that a zstd frame may keep in memory. Levels up to
	// 19 need at most 8 MiB.
	maxWindow = 32 << 20
)

var zstdOptions = []zstd.DOption{
	zstd.WithDecoderConcurrency(1),
	zstd.WithDecoderLowmem(true),
	zstd.WithDecoderMaxWindow(maxWindow),
}

// A layer is an input itself, or the content of a wrapping.
type layer struct {
	io.Reader
	at   io.ReaderAt // the same bytes, nil if there is only a stream
	size int64       // of at
}

// A found describes an input: its kind, and the wrappings around it.
type found struct {
	kind     kind
	wrapping string      // see Input.Compression
	r        io.Reader   // the innermost layer, from its start
	at       io.ReaderAt // the same, nil if there is only a stream
	size     int64       // of at
	name     string      // in the zip that it lies in
	claims   uint64      // its size, as that zip has it
	more     []found     // traces beside it that belong to it
	fsys     fs.FS       // the zip, where the whole of it is the trace
	packed   *wrapped    // the innermost wrapping, nil if there is none
}

// A peeler takes the wrappings off an input.
type peeler struct {
	meter   *meter
	scratch func() (Scratch, error) // see Options
	zipped  bool                    // within a zip already
	archive *zip.Reader
	closers []func() error
}

// peel identifies l, and unpacks it while it is a wrapping. An error means that it cannot
// be read.
func (p *peeler) peel(l layer, depth int) (found, error) {
	in := bufio.NewReaderSize(l, readAhead)
	head, err := in.Peek(sniffLen)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return found{}, err
	}
	f := found{kind: identify(head), r: in, at: l.at, size: l.size}
	if f.kind.class >= inGzip && depth == maxDepth {
		return unpackFirst("compressed more than three times"), nil
	}
	switch f.kind.class {
	case inGzip:
		z, err := gzip.NewReader(in)
		if err != nil {
			return unopened("gzip", err)
		}
		return p.within("gzip", z, depth)
	case inZstd:
		return p.zstd(in, depth)
	case inXZ:
		return p.xz(in, depth)
	case inZip:
		return p.zip(l, in, depth)
	case inTar:
		return p.tar(l, in)
	}
	return f, nil
}

func (p *peeler) zstd(in io.Reader, depth int) (found, error) {
	z, err := zstd.NewReader(in, zstdOptions...)
	if err != nil {
		return unopened("zstd", err)
	}
	p.closers = append(p.closers, func() error { z.Close(); return nil })
	f, err := p.within("zstd", z, depth)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return unpackFirst(fmt.Sprintf("zstd with a window of more than %d MiB", maxWindow>>20)), nil
	}
	return f, err
}

func (p *peeler) xz(in *bufio.Reader, depth int) (found, error) {
	z, err := newXZReader(in)
	if errors.Is(err, errXZDict) {
		return unpackFirst(fmt.Sprintf("xz with a %v", err)), nil
	}
	if err != nil {
		return unopened("xz", err)
	}
	return p.within("xz", z, depth)
}

// unpackFirst returns the advice to unpack a file whose compression gctrail does not read.
func unpackFirst(looks string) found {
	return found{kind: kind{class: unsupported, looks: looks, hint: hintUnpack}}
}

// unopened returns the error of opening the wrapping called name.
func unopened(name string, err error) (found, error) {
	return found{}, fmt.Errorf("%s: %w", name, err)
}

// within peels the content of the wrapping called name.
func (p *peeler) within(name string, r io.Reader, depth int) (found, error) {
	w := &wrapped{name: name, r: r}
	f, err := p.peel(layer{Reader: w}, depth+1)
	if f.packed == nil {
		f.packed = w
	}
	if f.wrapping != "" {
		name += "+" + f.wrapping
	}
	f.wrapping = name
	return f, err
}

func (p *peeler) close() error {
	var err error
	for _, c := range slices.Backward(p.closers) {
		err = errors.Join(err, c())
	}
	p.closers = nil
	return err
}

// refusal returns the error for an f that is not a supported trace.
func (f *found) refusal(name string) error {
	e := &UnknownError{Name: name, Detected: f.kind.looks, Hint: f.kind.hint, Err: trace.ErrNotTrace}
	if f.kind.vague {
		e.byName()
	}
	switch f.kind.class {
	case eventPipe, etw, lttng:
		return nil
	case unsupported, heapDump, lttngPart:
		e.Err = trace.ErrUnsupported
	}
	if f.wrapping != "" {
		e.Detected += ", inside " + f.wrapping
	}
	return e
}

// A wrapped is the output of a decompressor. Its errors name the decompressor, and
// persist.
type wrapped struct {
	name string
	r    io.Reader
	n    int64 // bytes so far
	err  error
}

func (w *wrapped) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.r.Read(p)
	w.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && !strings.HasPrefix(err.Error(), w.name+": ") {
		err = fmt.Errorf("%s: %w", w.name, err)
	}
	w.err = err
	return n, err
}

// named adds the name of the input to err, unless err has one.
func named(name string, err error) error {
	var path *fs.PathError
	var unknown *UnknownError
	if errors.As(err, &path) && path.Path == name || errors.As(err, &unknown) {
		return err
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}
