package emit_test

import (
	"path/filepath"
	"testing"

	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/open"
	"github.com/gctrail/gctrail/trace"
)

// A format is a way to write a trace.
type format struct {
	name   string
	file   string
	create func(p *emit.Provider, path string, opt emit.SessionOptions) (*emit.Session, error)
}

var formats = []format{
	{"V4", "x.nettrace", createNettrace(4)},
	{"V6", "x.nettrace", createNettrace(6)},
	{"CTF folder", "x", (*emit.Provider).CreateCTF},
	{"CTF zip", "x.trace.zip", (*emit.Provider).CreateCTF},
}

func createNettrace(version int) func(*emit.Provider, string, emit.SessionOptions) (*emit.Session, error) {
	return func(p *emit.Provider, path string, opt emit.SessionOptions) (*emit.Session, error) {
		opt.Version = version
		return p.Create(path, opt)
	}
}

// start starts a session in the format. It returns the path of the trace.
func (f *format) start(t testing.TB, p *emit.Provider, opt emit.SessionOptions) (s *emit.Session, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), f.file)
	s, err := f.create(p, path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s, path
}

// openTrace opens a trace until the test ends.
func openTrace(t testing.TB, path string) trace.Source {
	t.Helper()
	in, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in.Source
}

func openFile(path string) (*open.Input, error) { return open.File(path, open.Options{}) }

// readFile reads a trace in which nothing is missing.
func readFile(t testing.TB, path string) ([]*trace.Event, *trace.Info) {
	t.Helper()
	source := openTrace(t, path)
	var events []*trace.Event
	for ev, err := range source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev.Clone())
	}
	if l := source.Loss(); l.Events != 0 || l.Truncated || l.Late != 0 || l.Damaged != 0 || l.Exactness != trace.Exact {
		t.Errorf("loss: %+v", l)
	}
	return events, source.Info()
}
