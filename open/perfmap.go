package open

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/klauspost/compress/zip"
)

// PerfMap opens the file perf-PID.map of a process that came with the trace: in the zip
// or the folder that holds the trace, as perfcollect packs it, or beside the trace. The
// error is fs.ErrNotExist if there is none. A file beside the trace that was last written
// before the trace began is ignored, because it belongs to an earlier process with the
// same id.
func (in *Input) PerfMap(pid uint64) (io.ReadCloser, error) {
	name := fmt.Sprintf("perf-%d.map", pid)
	f, err := in.perfMap(pid, name)
	if err == nil {
		in.PerfMaps = append(in.PerfMaps, name)
	}
	return f, err
}

func (in *Input) perfMap(pid uint64, name string) (io.ReadCloser, error) {
	for _, part := range in.parts {
		if f, err := part.PerfMap(pid); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	if z := in.peeler.archive; z != nil {
		if f := in.packedAs(z, name); f != "" {
			return z.Open(f)
		}
	}
	if in.folder {
		inside := filepath.Join(in.Name, name)
		if info, err := os.Stat(inside); err == nil && info.Mode().IsRegular() {
			return os.Open(inside)
		}
	}
	return in.perfMapBeside(name)
}

// packedAs returns the name with its folder of a file in the zip, empty if there is none.
func (in *Input) packedAs(z *zip.Reader, name string) string {
	if in.packed == nil {
		in.packed = make(map[string]string)
		for _, f := range z.File[:min(len(z.File), maxEntries)] {
			in.packed[path.Base(f.Name)] = f.Name
		}
	}
	return in.packed[name]
}

func (in *Input) perfMapBeside(name string) (io.ReadCloser, error) {
	for i := range in.beside {
		f := &in.beside[i]
		if f.base() == name && (f.Modified.IsZero() || !f.Modified.Before(in.Source.Info().Start)) {
			return io.NopCloser(io.NewSectionReader(f, 0, f.Size)), nil
		}
	}
	if in.Name == "" || in.file == nil && !in.folder {
		return nil, fs.ErrNotExist
	}
	name = filepath.Join(filepath.Dir(in.Name), name)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.ModTime().Before(in.Source.Info().Start) {
		return nil, fs.ErrNotExist
	}
	return os.Open(name)
}
