package etw

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gctrail/gctrail/etl"
	"github.com/gctrail/gctrail/internal/units"
)

// Limits bound the retained events of a session, which writes several files one after the
// other. The zero Limits retain everything, in one file.
type Limits struct {
	Time time.Duration // 0 for no limit
	Size int64         // bytes; 0 for no limit
}

const (
	// minSegments is the smallest number of files to retain. There must be several,
	// because files are removed whole.
	minSegments = 16
	// A segment is not smaller than a buffer for each of some processors, nor larger
	// than maxSegment.
	minSegment = 16 * bufferKB << 10
	maxSegment = 16_000_000
	// shortest is the shortest time after which the next file is begun.
	shortest = 2 * time.Second
)

const (
	// reserve is how much room a chain leaves on the disk while it can remove a file,
	// because Windows does not start a session with less (StartTrace, ERROR_DISK_FULL),
	// and has to write buffers while files are removed.
	reserve = 200 << 20
	// fullBelow is the room below which a disk is full for a session, which writes whole
	// buffers.
	fullBelow = 16 << 20
	// maxShortened is the number of files that may be removed to make room for joining
	// the others.
	maxShortened = 2
)

// A segment is one of the files of a session.
type segment struct {
	path  string
	file  *os.File
	head  int64 // size of the first buffer; 0 while it was not written
	size  int64 // up to which the file was written
	from  int64 // where its second buffer is in the chain
	began time.Time
	ended time.Time // zero while the session writes it
}

// A chain joins the files of a session for reading: the first buffer of the first file,
// then the other buffers of all files.
type chain struct {
	session *Session
	limits  Limits
	number  int // of the latest segment's name

	say      func(string) // is called when a full disk shortens the chain
	looked   time.Time    // when the disk's free space was last queried
	reported int64        // the size in the latest message that the chain was shortened; 0 if there was none
	retry    time.Time    // no file is begun before: the disk had no room for it

	mu       sync.Mutex
	head     []byte // the chain's first buffer; nil while there was one file only
	segments []*segment
	rest     []*segment // that could not be joined, closed
	held     time.Time  // nothing since then is removed; zero if nothing is held
	dropped  bool       // segments were removed
	cut      bool       // some of them for their size
}

func newChain(s *Session) *chain {
	return &chain{session: s, limits: s.limits, say: func(string) {}}
}

// nextSegment returns the path of the next segment of the trace at a path. It skips
// existing files, because a killed process may have left some.
func nextSegment(path string, number *int) string {
	ext := filepath.Ext(path)
	for {
		*number++
		segment := fmt.Sprintf("%s.ring-%04d%s", strings.TrimSuffix(path, ext), *number, ext)
		if _, err := os.Lstat(segment); errors.Is(err, os.ErrNotExist) {
			return segment
		}
	}
}

// await opens the first file once something was written to it.
func (c *chain) await(limit time.Time) error {
	file, err := awaitFile(c.session.path, limit)
	if err != nil {
		return err
	}
	c.segments = []*segment{{path: c.session.path, file: file, began: time.Now()}}
	return nil
}

// grow queries the sizes of the files, and returns the size of the chain. A file is
// complete when the next has its first buffer.
func (c *chain) grow() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.segments {
		if i+1 == len(c.segments) || c.segments[i+1].head == 0 {
			if info, err := s.file.Stat(); err == nil { // of the open file: a folder has sizes late
				s.size = info.Size()
			}
		}
		if s.head == 0 {
			n, err := etl.HeadSize(s.etl())
			if err != nil {
				break
			}
			s.head = n
			s.from = n
			if i > 0 {
				s.from = c.segments[i-1].end()
			}
		}
	}
	return c.size()
}

func (s *segment) etl() etl.File { return etl.File{ReaderAt: s.file, Size: s.size, Name: s.path} }

// end is where the segment ends in the chain.
func (s *segment) end() int64 { return s.from + s.size - s.head }

// size is up to where the chain can be read.
func (c *chain) size() int64 {
	size := c.segments[0].size // also if its first buffer is not complete
	for _, s := range c.segments {
		if s.head == 0 {
			break
		}
		size = s.end()
	}
	return size
}

// ReadAt reads the chain.
func (c *chain) ReadAt(p []byte, off int64) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.head != nil && off < int64(len(c.head)) {
		n = copy(p, c.head[off:])
	}
	for n < len(p) {
		s, at := c.at(off + int64(n))
		if s == nil {
			return n, io.EOF
		}
		m, err := s.file.ReadAt(p[n:min(int64(len(p)), int64(n)+s.size-at)], at)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// at returns the segment at an offset of the chain, and the offset in it; nil if there is
// none.
func (c *chain) at(off int64) (s *segment, at int64) {
	for _, s := range c.segments {
		first := s.head
		if c.head == nil {
			first = 0 // its first buffer is that of the chain
		}
		if at := off - s.from + s.head; first <= at && at < s.size {
			return s, at
		}
	}
	return nil, 0
}

// tend begins the next file when the latest is large or old enough. It removes files that
// exceed the limits, if they ended so long before settled that their events were emitted.
func (c *chain) tend(now, settled time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limits == (Limits{}) {
		return nil
	}
	emitted := settled.Add(-2 * lag)
	c.drop(now, emitted)
	if now.Sub(c.looked) >= queryTime {
		c.looked = now
		c.makeRoom(emitted)
	}
	last := c.segments[len(c.segments)-1]
	age := now.Sub(last.began)
	long := c.limits.Time > 0 && age >= max(c.limits.Time/minSegments, shortest)
	large := c.limits.Size > 0 && last.size >= min(maxSegment, max(minSegment, c.limits.Size/minSegments)) && age >= shortest
	if last.head == 0 || !long && !large || now.Before(c.retry) {
		return nil
	}
	err := c.next(now)
	if errors.Is(err, StatusDiskFull) {
		c.retry = now.Add(shortest) // until then, the session goes on in the same file
		return nil
	}
	return err
}

// next has the session write to a new file.
func (c *chain) next(now time.Time) error {
	first, last := c.segments[0], c.segments[len(c.segments)-1]
	if c.head == nil {
		head := make([]byte, first.head)
		if _, err := first.file.ReadAt(head, 0); err != nil {
			return err
		}
		c.head = head
	}
	path := nextSegment(c.session.trace, &c.number)
	if err := c.session.switchTo(path); err != nil {
		return err
	}
	c.mu.Unlock()
	file, err := awaitFile(path, now.Add(firstTime))
	c.mu.Lock()
	if err != nil {
		_ = os.Remove(path)
		return &Error{"ControlTrace", c.session.name, err}
	}
	last.ended = now
	c.segments = append(c.segments, &segment{path: path, file: file, began: now})
	return nil
}

// drop removes the files that exceed the limits and whose events were emitted.
func (c *chain) drop(now, emitted time.Time) {
	size := c.kept()
	for c.spare(emitted) {
		s := c.segments[0]
		old := c.limits.Time > 0 && now.Sub(s.ended) > c.limits.Time
		large := c.limits.Size > 0 && size > c.limits.Size
		if !old && !large {
			return
		}
		c.cut = c.cut || !old
		size -= s.size
		c.dropFirst()
	}
}

// spare reports whether the first file can be removed: its events were emitted, and are
// not held.
func (c *chain) spare(emitted time.Time) bool {
	if len(c.segments) < 2 {
		return false
	}
	ended := c.segments[0].ended
	return !ended.After(emitted) && (c.held.IsZero() || !ended.After(c.held))
}

// makeRoom removes files whose events were emitted while the disk has less room than
// reserve. It reports whether it removed any.
func (c *chain) makeRoom(emitted time.Time) bool {
	free, known := c.session.system.Free(filepath.Dir(c.session.trace))
	made := false
	for known && free < reserve && c.spare(emitted) {
		free += c.segments[0].size
		c.dropFirst()
		made = true
	}
	if size := c.kept(); made && (c.reported == 0 || size < c.reported/2) {
		c.reported = size
		c.say(fmt.Sprintf("%s: the disk is full, the ring is shortened to %s", c.session.trace, units.Bytes(size)))
	}
	return made
}

// shrink is makeRoom for callers without the lock.
func (c *chain) shrink(emitted time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.makeRoom(emitted)
}

// kept is the size of all files.
func (c *chain) kept() (size int64) {
	for _, s := range c.segments {
		size += s.size
	}
	return size
}

func (c *chain) dropFirst() {
	c.dropped = true
	c.remove(c.segments[0])
	c.segments = c.segments[1:]
}

func (c *chain) remove(s *segment) {
	_ = s.file.Close()
	_ = os.Remove(s.path) // another program may hold it open
}

// finish completes the first buffer of the chain with the values that the session has
// written to the last file's at its end.
func (c *chain) finish() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.head == nil {
		return nil
	}
	last := c.segments[len(c.segments)-1]
	files := []etl.File{{ReaderAt: bytes.NewReader(c.head), Size: int64(len(c.head)), Name: last.path}, last.etl()}
	head, err := etl.Head(files, false)
	if err == nil {
		c.head = head
	}
	return err
}

// hold protects events since a time from removal.
func (c *chain) hold(since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = since
}

// discard removes all files.
func (c *chain) discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.segments {
		c.remove(s)
	}
	c.segments = nil
}

// close closes the files.
func (c *chain) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := each(c.segments, func(s *segment) error { return s.file.Close() })
	c.segments = nil
	return err
}

// each calls f with all of several, and returns the errors.
func each[T any](all []T, f func(T) error) error {
	var errs []error
	for _, v := range all {
		errs = append(errs, f(v))
	}
	return errors.Join(errs...)
}
