package open

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/ctf"
	"github.com/gctrail/gctrail/trace"
)

// folder opens the LTTng trace in the folder at path and its subfolders.
func folder(path string, opts Options) (*Input, error) {
	in := &Input{Name: path, meter: newMeter(nil, nil), folder: true}
	in.again = func() (*Input, error) { return File(path, opts) }
	r, err := openCTF(&meteredFS{os.DirFS(path), in.meter}, opts)
	switch _, malformed := errors.AsType[*trace.FormatError](err); {
	case malformed, errors.Is(err, trace.ErrNotTrace):
		return otherFolder(path, err, opts)
	case err != nil:
		return nil, named(path, err)
	}
	in.meter.n.Store(0) // these bytes are read again
	in.Source, in.Size = r, r.Size()
	return in, nil
}

func openCTF(fsys fs.FS, opts Options) (*ctf.Reader, error) {
	return ctf.Open(fsys, ctf.Options{Want: opts.Want, Head: opts.Head, Runs: opts.Runs, Resolve: clr.Tracepoint})
}

// A meteredFS counts the bytes read from its files.
type meteredFS struct {
	fs.FS
	meter *meter
}

func (m *meteredFS) Open(name string) (fs.File, error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return &meteredFile{f, &meter{r: f, n: m.meter.n}}, nil
}

// ReadDir lists a folder.
func (m *meteredFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(m.FS, name) }

type meteredFile struct {
	fs.File
	meter *meter
}

func (f *meteredFile) Read(p []byte) (int, error) { return f.meter.Read(p) }

// Seek lets a reader skip bytes.
func (f *meteredFile) Seek(offset int64, whence int) (int64, error) {
	s, ok := f.File.(io.Seeker)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return s.Seek(offset, whence)
}
