package open

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	// maxTarFiles bounds the files of a tar archive, and maxTarNames their names
	// together, because both are kept in memory.
	maxTarFiles = 1 << 14
	maxTarNames = maxDirectory
)

// tar finds the LTTng trace in a tar archive. What comes as a stream is copied to
// a scratch, since the streams of a trace are read side by side.
func (p *peeler) tar(l layer, in io.Reader) (found, error) {
	source := &salvage{Reader: in}
	if l.at == nil {
		var err error
		if l.at, l.size, err = p.salvage(source, maxSpool, "a tar archive that is packed or comes through a pipe"); err != nil {
			return found{}, err
		}
	}
	fsys, err := newTarFS(io.NewSectionReader(l.at, 0, l.size))
	if err != nil {
		return found{}, fmt.Errorf("tar: %w", err)
	}
	fsys.truncated = fsys.truncated || source.err != nil
	for name := range fsys.files {
		if path.Base(name) == "metadata" {
			return found{kind: kind{class: lttng}, wrapping: "tar", fsys: fsys}, nil
		}
	}
	return unpackFirst("a tar archive without an LTTng trace"), nil
}

// A tarFS is the regular files of a tar archive, and the folders that they lie in. It
// leaves out links, devices and names that lead out of the archive.
type tarFS struct {
	r       *io.SectionReader
	files   map[string]tarFile
	folders map[string][]fs.DirEntry

	truncated bool   // the archive is
	last      string // the file that ends where the archive does then
}

// A tarFile is a file in the archive.
type tarFile struct {
	fs.FileInfo
	off int64
}

// tarInfo describes a file or a folder as far as a reader asks: its owner alone may read it, and
// nobody knows when it was written.
func tarInfo(name string, typ byte, mode, size int64) fs.FileInfo {
	return (&tar.Header{Name: name, Typeflag: typ, Mode: mode, Size: size}).FileInfo()
}

func tarFolder(name string) fs.FileInfo { return tarInfo(name, tar.TypeDir, 0o500, 0) }

func newTarFS(r *io.SectionReader) (*tarFS, error) {
	t := &tarFS{r: r, files: map[string]tarFile{}, folders: map[string][]fs.DirEntry{".": nil}}
	in, names := tar.NewReader(r), 0
	for {
		h, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return t, nil
		case errors.Is(err, io.ErrUnexpectedEOF), err != nil && len(t.files) > 0:
			t.truncated = true // the rest is used
			return t, nil
		case err != nil:
			return nil, err
		}
		name := path.Clean(h.Name)
		if h.Typeflag != tar.TypeReg || sparse(h) || !fs.ValidPath(name) || name == "." {
			continue
		}
		if names += len(name); len(t.files) == maxTarFiles || names > maxTarNames {
			return nil, fmt.Errorf("more than %d files, or more than %d MiB of names: unpack it and give the folder of the trace", maxTarFiles, maxTarNames>>20)
		}
		off, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		t.add(name, tarFile{tarInfo(name, tar.TypeReg, 0o400, min(h.Size, r.Size()-off)), off})
		t.last, t.truncated = name, h.Size > r.Size()-off
	}
}

// sparse reports whether the archive stores the file with its gaps left out.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// maxTarDepth bounds how deep folders lie in one another.
const maxTarDepth = 32

// add adds a file, unless there is one or a folder of that name.
func (t *tarFS) add(name string, f tarFile) {
	if _, ok := t.files[name]; ok || t.folders[name] != nil || strings.Count(name, "/") > maxTarDepth {
		return
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, ok := t.files[dir]; ok {
			return
		}
	}
	t.files[name] = f
	for entry := f.FileInfo; ; entry = tarFolder(name) {
		dir := path.Dir(name)
		known := t.folders[dir]
		t.folders[dir] = append(known, fs.FileInfoToDirEntry(entry))
		if known != nil || dir == "." {
			return
		}
		name = dir
	}
}

// Open opens a file or a folder.
func (t *tarFS) Open(name string) (fs.File, error) {
	if f, ok := t.files[name]; ok && fs.ValidPath(name) {
		end := io.EOF
		if t.truncated && name == t.last {
			end = io.ErrUnexpectedEOF
		}
		return &openTarFile{io.NewSectionReader(t.r, f.off, f.Size()), f, end}, nil
	}
	if _, ok := t.folders[name]; ok {
		return &openTarFile{io.NewSectionReader(t.r, 0, 0), tarFolder(name), io.EOF}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists a folder.
func (t *tarFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, ok := t.folders[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

type openTarFile struct {
	*io.SectionReader
	info fs.FileInfo
	end  error
}

// Read reads on. Its error reports whether the archive is truncated there.
func (f *openTarFile) Read(p []byte) (int, error) {
	n, err := f.SectionReader.Read(p)
	if errors.Is(err, io.EOF) {
		err = f.end
	}
	return n, err
}

func (f *openTarFile) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *openTarFile) Close() error { return nil }
