package ctf

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Files of a trace.
const (
	metadataFile = "metadata"
	streamFile   = "channel0_0"
)

// CreateFolder starts a trace below ust/uid in a folder, as "lttng create
// --output" does. The error is fs.ErrExist if there is anything in the folder.
// A missing folder is created.
func CreateFolder(name string, opt WriterOptions) (*Writer, error) {
	switch entries, err := os.ReadDir(name); {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("ctf: %s has files in it: %w", name, fs.ErrExist)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	dir := filepath.Join(name, filepath.FromSlash(userFolder(&opt)))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var files [2]*os.File
	for i, name := range [...]string{metadataFile, streamFile} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return nil, errors.Join(err, closeAll(files[:i]))
		}
		files[i] = f
	}
	w, err := NewWriter(files[0], files[1], opt)
	if err != nil {
		return nil, errors.Join(err, closeAll(files[:]))
	}
	w.close = func() error { return closeAll(files[:]) }
	return w, nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// NewZipWriter starts a trace in perfcollect's form: a zip, with the session in
// a folder name.trace. Complete packets are compressed and written. The
// metadata is held in memory until the end, and is not compressed, because
// TraceEvent reads only part of compressed metadata
// (CtfMetadataLegacyParser.cs).
func NewZipWriter(out io.Writer, name string, opt WriterOptions) (*Writer, error) {
	z := zip.NewWriter(out)
	dir := path.Join(name+".trace", "lttngTrace", opt.Start.UTC().Format("auto-20060102-150405"), userFolder(&opt))
	create := func(name string, method uint16) (io.Writer, error) {
		return z.CreateHeader(&zip.FileHeader{Name: path.Join(dir, name), Method: method, Modified: opt.Start})
	}
	stream, err := create(streamFile, zip.Deflate)
	if err != nil {
		return nil, err
	}
	var metadata bytes.Buffer
	w, err := NewWriter(&metadata, stream, opt)
	if err != nil {
		return nil, err
	}
	w.close = func() error {
		m, err := create(metadataFile, zip.Store)
		if err == nil {
			_, err = m.Write(metadata.Bytes())
		}
		return errors.Join(err, z.Close())
	}
	return w, nil
}

// userFolder returns the folder in which LTTng stores the trace of a user's
// processes. Readers take the size of pointers from its name.
func userFolder(opt *WriterOptions) string {
	bits := 64
	if opt.PointerSize == 4 {
		bits = 32
	}
	return fmt.Sprintf("ust/uid/%d/%d-bit", max(os.Getuid(), 0), bits) // Windows has no such ids
}
