package blob

import (
	"io"
	"sync"

	"github.com/gctrail/gctrail/open"
)

// A meter counts the bytes that are read of the files of a job.
type meter struct {
	j    *Job
	size int64

	mu   sync.Mutex // because an ETW trace is read by several goroutines
	read int64
}

// meter returns files whose bytes are counted.
func (j *Job) meter(files []open.Content) []open.Content {
	if j.Progress == nil {
		return files
	}
	m := &meter{j: j}
	metered := make([]open.Content, len(files))
	for i, f := range files {
		m.size += f.Size
		metered[i] = open.Content{ReaderAt: &meteredFile{f, m}, Size: f.Size, Name: f.Name, Modified: f.Modified}
	}
	return metered
}

type meteredFile struct {
	io.ReaderAt
	m *meter
}

func (f *meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, off)
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.read += int64(n)
	f.m.j.Progress(min(f.m.read, f.m.size), f.m.size, f.m.j.collections.Load())
	return n, err
}
