package open

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"github.com/gctrail/gctrail/etl"
)

const (
	// maxDirectory bounds a zip's directory, because it is kept in memory.
	maxDirectory = 4 << 20
	// maxEntries bounds the entries that are looked at.
	maxEntries = 4096
)

var errDirectory = fmt.Errorf("zip: its directory takes more than %d MiB: unpack it and give the trace in it", maxDirectory>>20)

// methods are the names of zip's compression methods that are not read (APPNOTE.TXT,
// section 4.4.5). Windows uses Deflate64 for files larger than 2 GiB.
var methods = map[uint16]string{
	1: "Shrink", 6: "Implode", 9: "Deflate64", 12: "bzip2", 14: "LZMA", 95: "xz", 98: "PPMd",
}

// zip peels the one trace among the entries of a zip.
func (p *peeler) zip(l layer, in io.Reader, depth int) (found, error) {
	if p.zipped {
		return unpackFirst("a zip inside a zip"), nil
	}
	stream := l.at == nil
	if stream {
		f, size, err := spool(p.scratch, in, maxSpool, "a zip that comes through a pipe")
		if err != nil {
			return found{}, err
		}
		p.closers = append(p.closers, f.Close)
		l.at, l.size = f, size
	}
	// A section of the file, because a damaged directory may point outside it.
	dir := &bounded{ReaderAt: io.NewSectionReader(l.at, 0, l.size), err: errDirectory}
	dir.left.Store(maxDirectory)
	z, err := zip.NewReader(dir, l.size)
	switch {
	case errors.Is(err, zip.ErrFormat):
		return found{kind: kind{
			looks: "a zip without its directory, which comes last",
			hint:  "the file is incomplete: copy it again",
		}}, nil
	case err != nil:
		return found{}, err
	}
	dir.left.Store(math.MaxInt64)
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstdOptions...))
	for _, f := range z.File { // .NET Framework up to 4.6 writes them as Windows does
		f.Name = strings.ReplaceAll(f.Name, `\`, "/")
	}

	p.archive = z
	c := p.look(z, depth)
	if c.lttng && len(c.traces) == 0 {
		if c.invalid != "" { // fs.ReadDir reads no folder that it is in
			return unpackFirst("a zip with the invalid file name " + c.invalid), nil
		}
		return found{kind: kind{class: lttng}, wrapping: "zip", fsys: z}, nil
	}
	if len(c.traces) != 1 && !c.belong() {
		return c.refused()
	}
	if !stream {
		p.meter.n.Store(0) // these bytes are read again
	}
	f, err := p.entry(c.traces[0], depth)
	for _, t := range c.traces[1:] {
		if err != nil {
			break
		}
		var g found
		g, err = p.entry(t, depth)
		f.more = append(f.more, g)
		f.wrapping += "," + strings.TrimPrefix(g.wrapping, "zip:")
	}
	return f, err
}

// A contents sorts the entries of a zip.
type contents struct {
	traces []*zip.File
	etw    []etl.File // the beginnings of the ETW entries
	lttng  bool       // there is the metadata of an LTTng trace
	names  []string   // of all that are no folders
	known  *kind      // of the first that is unsupported
	where  string     // its name
	err    error      // of the first that cannot be read

	invalid string // the first name that is not UTF-8, quoted
}

func (p *peeler) look(z *zip.Reader, depth int) *contents {
	c := &contents{}
	for _, f := range z.File[:min(len(z.File), maxEntries)] {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		c.names = append(c.names, printable(f.Name))
		if !utf8.ValidString(f.Name) && c.invalid == "" {
			c.invalid = strconv.Quote(f.Name)
		}
		q := peeler{meter: p.meter, scratch: p.scratch}
		got, err := q.entry(f, depth)
		switch {
		case err != nil && c.err == nil:
			c.err = err
		case err != nil:
		case got.kind.class == eventPipe:
			c.traces = append(c.traces, f)
		case got.kind.class == etw:
			c.traces = append(c.traces, f)
			c.etw = append(c.etw, etwHead(got.r))
		case got.kind.class == lttngPart:
			c.lttng = true
		case got.kind.class == unsupported && c.known == nil:
			c.known, c.where = &got.kind, printable(f.Name)
		}
		q.close()
	}
	return c
}

// belong reports whether the traces of a zip are parts of one, because a session may
// write the kernel's and the programs' events to separate files.
func (c *contents) belong() bool {
	return len(c.etw) > 0 && len(c.etw) == len(c.traces) && len(c.etw) <= maxParts &&
		slices.Max(etl.Recordings(c.etw)) == 0
}

// maxParts bounds the files that one trace is made of.
const maxParts = 64

// entry peels one entry of a zip.
func (p *peeler) entry(f *zip.File, depth int) (found, error) {
	name := "zip:" + printable(f.Name)
	if f.Flags&1 != 0 {
		return unpackFirst("encrypted"), nil
	}
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return unpackFirst("packed with " + cmp.Or(methods[f.Method], fmt.Sprintf("zip's method %d", f.Method))), nil
	}
	if err != nil {
		return unopened(name, err)
	}
	// The error of closing is that of the last read, which has returned it.
	p.closers = append(p.closers, func() error { r.Close(); return nil })
	p.zipped = true
	found, err := p.within(name, r, depth)
	found.name, found.claims = printable(f.Name), f.UncompressedSize64
	return found, err
}

// refused returns why none of the entries is the trace.
func (c *contents) refused() (found, error) {
	switch {
	case len(c.traces) > 1:
		var names []string
		for _, f := range c.traces {
			names = append(names, printable(f.Name))
		}
		return found{kind: kind{
			class: unsupported,
			looks: fmt.Sprintf("a zip that holds %d traces: %s", len(names), enumerate(names)),
			hint:  "unpack it and give one or more of them",
		}}, nil
	case c.known != nil:
		return found{kind: kind{
			class: unsupported,
			looks: fmt.Sprintf("a zip that holds %s, %s", c.where, c.known.looks), hint: c.known.hint,
		}}, nil
	case c.err != nil:
		return found{}, c.err
	case len(c.names) == 0:
		return found{kind: kind{looks: "an empty zip", hint: hintReads}}, nil
	}
	return found{kind: kind{looks: "a zip without a trace: " + enumerate(c.names), hint: hintReads, vague: true}}, nil
}
