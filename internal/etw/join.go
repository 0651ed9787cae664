package etw

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/units"
)

// joins reports whether the trace is complete only once join has made its file.
func (c *chain) joins() bool { return c.limits != (Limits{}) || c.session.path != c.session.trace }

// join makes one file of the segments that ended after a time. It must be the last use of
// the chain. It appends each file to the first one and removes it, so that there must be
// room for only one of them. Then it renames the first file, which replaces an existing
// one at the path. If there is no room to begin with, it shortens the trace. After an
// error, left names the files that were not added.
func (c *chain) join(path string, since time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.segments) > 1 && c.segments[0].ended.Before(since) {
		c.dropFirst()
	}
	if c.limits == (Limits{}) {
		return c.rename(path)
	}
	for try := 0; ; try++ {
		added, err := c.addAll()
		if outfile.IsFull(err) && !added && try < maxShortened && len(c.segments) > 1 {
			c.shorten()
			continue
		}
		return errors.Join(err, c.rename(path))
	}
}

// addAll adds the other files to the first, and then describes the result there. It
// reports whether it has added any.
func (c *chain) addAll() (added bool, err error) {
	head, err := c.headOf(c.segments)
	if err != nil {
		return false, err
	}
	first := c.segments[0]
	out, err := os.OpenFile(first.path, os.O_WRONLY, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for len(c.segments) > 1 {
		if err := first.add(out, c.segments[1]); err != nil {
			return added, errors.Join(err, c.describe(out, added))
		}
		c.remove(c.segments[1])
		c.segments = slices.Delete(c.segments, 1, 2)
		added = true
	}
	_, err = out.WriteAt(head, 0)
	return added, err
}

// describe describes the first file, to which not all others were added.
func (c *chain) describe(out *os.File, added bool) error {
	if !added {
		return nil
	}
	head, err := c.headOf(c.segments[:1])
	if err == nil {
		_, err = out.WriteAt(head, 0)
	}
	return err
}

func (c *chain) headOf(segments []*segment) ([]byte, error) {
	files := make([]etl.File, len(segments))
	for i, s := range segments {
		files[i] = s.etl()
	}
	return etl.Head(files, c.dropped)
}

// add adds the buffers of another segment to a file, or none after an error.
func (s *segment) add(out *os.File, other *segment) error {
	_, err := io.Copy(io.NewOffsetWriter(out, s.size), io.NewSectionReader(other.file, other.head, other.size-other.head))
	if err != nil {
		return errors.Join(err, out.Truncate(s.size))
	}
	s.size += other.size - other.head
	return nil
}

// shorten makes room for joining: it removes the first file or, if that is held, the
// last.
func (c *chain) shorten() {
	end, victim := "beginning", c.segments[0]
	if c.spare(victim.ended) {
		c.dropFirst()
	} else {
		end, victim = "end", c.segments[len(c.segments)-1]
		c.segments = c.segments[:len(c.segments)-1]
		c.remove(victim)
	}
	c.say(fmt.Sprintf("%s: the disk is full, the trace is shortened at its %s by %s", c.session.trace, end, units.Bytes(victim.size)))
}

// rename gives the first file its name. The others are left.
func (c *chain) rename(path string) error {
	first := c.segments[0]
	if err := first.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(first.path, path); err != nil {
		return err
	}
	for _, s := range c.segments[1:] {
		_ = s.file.Close() // it was only read
	}
	c.rest, c.segments = c.segments[1:], nil
	return nil
}

// left returns the paths of files that were not joined.
func (c *chain) left() (paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range append(c.rest, c.segments...) {
		paths = append(paths, s.path)
	}
	return paths
}
