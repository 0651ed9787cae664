package ctf

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/internal/tsdl"
	"github.com/gctrail/gctrail/trace"
)

// metadataName is the file that makes a folder a trace.
const metadataName = "metadata"

const (
	maxEntries = 1 << 17 // in all folders, of any kind
	maxFiles   = 1 << 16
	maxStreams = 1 << 12
)

// A file holds packets of one stream.
type file struct {
	path   string
	member *member
	first  packet
	key    streamKey
}

// A streamKey identifies the stream that a file is part of. Several files have the same
// key if the session was rotated, or if the size of its files was limited.
type streamKey struct {
	trace           [16]byte
	dir             string // where the trace has no UUID
	class, instance uint64
	alone           string // path of a file whose stream has no number
}

// scan finds the traces below the root of the file system, and their streams.
func (m *merger) scan() error {
	var folders []string
	seen := 0
	err := fs.WalkDir(m.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxEntries:
			return fmt.Errorf("ctf: %w: more than %d files and folders", trace.ErrTooLarge, maxEntries)
		case err != nil && name == ".":
			return err
		case err != nil:
			m.damage(name, 0, "folder", err)
		case path.Base(name) == metadataName && d.Type().IsRegular():
			folders = append(folders, path.Dir(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(folders) == 0 {
		return fmt.Errorf("ctf: %w: no file named %s", trace.ErrNotTrace, metadataName)
	}
	var files []*file
	var failed error
	for _, dir := range folders {
		found, err := m.folder(dir)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		files = append(files, found...)
		if len(files) > maxFiles {
			return fmt.Errorf("ctf: %w: more than %d files", trace.ErrTooLarge, maxFiles)
		}
	}
	if len(m.members) == 0 {
		return failed
	}
	if failed != nil {
		m.undeclared = true
		m.damage(folders[0], 0, "metadata", failed)
	}
	return m.group(files)
}

// folder reads the metadata of one trace and finds its files.
func (m *merger) folder(dir string) ([]*file, error) {
	of, err := m.member(dir)
	if of == nil {
		return nil, err
	}
	if err != nil {
		m.undeclared = true
		m.damage(path.Join(dir, metadataName), 0, "metadata", err)
	}
	entries, err := fs.ReadDir(m.fsys, dir)
	if err != nil {
		m.damage(dir, 0, "folder", err)
	}
	var files []*file
	present := map[string]bool{}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == metadataName || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if fi, err := e.Info(); err == nil {
			m.size += fi.Size()
		}
		if f := m.probe(path.Join(dir, e.Name()), of); f != nil {
			files = append(files, f)
			present[e.Name()] = true
		} else {
			m.uncounted = true // it may have had packets
		}
	}
	m.absent(dir, present)
	return files, nil
}

// member reads the metadata in a folder. Both results are set if only a part of it could
// be read. Folders with the same metadata are one member, because the parts of a rotated
// session often have the same.
func (m *merger) member(dir string) (*member, error) {
	name := path.Join(dir, metadataName)
	f, err := m.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, tsdl.MaxSize+1))
	if err != nil && len(text) == 0 {
		return nil, &trace.FormatError{Format: "ctf", File: name, Section: "metadata", Err: err}
	}
	key := memberKey{sha256.Sum256(text), path.Base(dir)}
	if known := m.members[key]; known != nil {
		return known, nil
	}
	meta, parseErr := tsdl.Parse(text)
	if parseErr != nil {
		err = parseErr
	}
	if meta == nil {
		return nil, &trace.FormatError{Format: "ctf", File: name, Section: "metadata", Err: err}
	}
	of, planErr := newMember(dir, meta)
	if planErr != nil {
		return nil, &trace.FormatError{Format: "ctf", File: name, Section: "metadata", Err: planErr}
	}
	m.members[key] = of
	m.describe(of)
	return of, err
}

type memberKey struct {
	sum  [sha256.Size]byte
	base string // of the folder: it may contain the size of pointers
}

// probe reads the first packet of a file to identify its stream. It returns nil if the
// file has none.
func (m *merger) probe(name string, of *member) *file {
	f := &file{path: name, member: of, key: streamKey{alone: name}}
	s := m.newStream()
	s.files = []*file{f}
	if !s.nextFile() {
		return nil
	}
	defer s.close()
	err := s.open()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return f
	}
	f.first = s.packet
	if s.dec.has(role(tsdl.StreamInstance)) {
		f.key = streamKey{trace: of.meta.UUID, class: s.class.meta.ID, instance: s.dec.roles[tsdl.StreamInstance]}
		if f.key.trace == [16]byte{} {
			f.key.dir = path.Dir(name)
		}
	}
	if s.packet.cpu != trace.UnknownCPU {
		m.cpus[s.packet.cpu] = true
	}
	return f
}

// group makes streams of the files, each with its files in order.
func (m *merger) group(files []*file) error {
	m.processors(files)
	streams := map[streamKey]*stream{}
	for _, f := range files {
		s := streams[f.key]
		if s == nil {
			s = m.newStream()
			s.order = len(m.streams)
			streams[f.key] = s
			m.streams = append(m.streams, s)
		}
		s.files = append(s.files, f)
	}
	if len(m.streams) > maxStreams {
		return fmt.Errorf("ctf: %w: more than %d streams", trace.ErrTooLarge, maxStreams)
	}
	for _, s := range m.streams {
		slices.SortStableFunc(s.files, func(a, b *file) int {
			if a.first.numbered && b.first.numbered && a.first.sequence != b.first.sequence {
				return cmp.Compare(a.first.sequence, b.first.sequence)
			}
			return cmp.Compare(a.first.begin, b.first.begin)
		})
	}
	return nil
}
