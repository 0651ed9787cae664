package open

import (
	"io"
	"path"
	"strings"
	"time"

	"github.com/gctrail/gctrail/etl"
)

// A Content is a file that the caller has opened, or holds in memory. Several
// goroutines may read it at once. It is not closed.
type Content struct {
	io.ReaderAt
	Size     int64
	Name     string    // for messages
	Modified time.Time // when the file was last written; zero if unknown
}

// base returns the name without its folder.
func (c *Content) base() string { return path.Base(strings.ReplaceAll(c.Name, `\`, "/")) }

// Contents opens traces as Files does, but of contents. Options.Beside has the files beside
// them.
func Contents(files []Content, opts Options) (*Input, error) {
	groups := sessions(files, func(c Content) etl.File { return etwHead(io.NewSectionReader(c, 0, c.Size)) })
	if len(groups) == 1 {
		return openContent(groups[0], opts)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	in := &Input{Name: strings.Join(names, " + "), again: func() (*Input, error) { return Contents(files, opts) }}
	return in.merge(len(groups), opts, func(i int, opts Options) (*Input, error) { return openContent(groups[i], opts) })
}

// openContent opens one trace, which has several files only if it is an ETW trace.
func openContent(files []Content, opts Options) (*Input, error) {
	f := files[0]
	in := &Input{
		Name: f.Name, Size: f.Size, content: files[1:], beside: opts.Beside,
		meter: newMeter(io.NewSectionReader(f, 0, f.Size), f),
		again: func() (*Input, error) { return openContent(files, opts) },
	}
	return in.open(opts)
}

// addContent makes other files parts of the ETW trace that the input is a file of.
func (in *Input) addContent(main *found) error {
	for _, f := range in.content {
		if err := in.addPart(main, f.etw()); err != nil {
			return err
		}
	}
	name := (&Content{Name: in.Name}).base()
	for i := range in.beside {
		if f := &in.beside[i]; isCompanion(f.base(), name) {
			in.addRelated(main, f.Name, f.etw())
		}
	}
	return nil
}

// etw returns the content as a file that may be of an ETW trace.
func (c *Content) etw() *etwFile {
	return &etwFile{etl.File{ReaderAt: c.ReaderAt, Size: c.Size, Name: c.Name}, io.NopCloser(nil)}
}
