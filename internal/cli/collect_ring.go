package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/nettrace"
)

// A ring keeps the end of a trace on disk, in segments beside the file that is to
// be made of it. Each segment is a trace of its own, and whole at any time. What it
// holds in memory does not depend on how much it keeps.
type ring struct {
	path string // of the file that is to be made
	keep keeping
	say  func(string)
	// open makes a file, as openTrace does.
	open func(path string, flag int) (*traceOutput, error)
	// overrun is called when the ring has no room for what it is to hold.
	overrun func()

	in       *nettrace.ObjectReader
	feed     bytes.Reader // what in reads
	splicer  nettrace.Splicer
	pending  bytes.Buffer // of the last segment, not written
	segments []*segment
	current  *traceOutput // the last segment's file
	number   int          // of the last segment
	size     int64        // of all segments

	held   uint64 // nothing from this time on is dropped; 0 for nothing held
	ending bool   // nothing is dropped any more
	cut    bool   // something was dropped because keep.size was reached
}

// A keeping says how much a ring is to hold; a time of 0 is no limit.
type keeping struct {
	time time.Duration
	size int64
}

// A segment is a part of the ring. Its first objects are what the others refer
// to.
type segment struct {
	path   string
	head   int64  // bytes of these first objects
	size   int64  // of all
	before uint64 // time of the latest event before the segment
	start  uint64 // of the first event block that a trace can start with; 0 where there is none
}

const (
	// maxSegment bounds a segment, but for a single object that is larger.
	maxSegment = 16_000_000
	// minSegments is how many segments a ring has at least when it is full: one is
	// dropped at a time.
	minSegments = 16
	// maxShortened is how many segments are given up to make room for the others.
	maxShortened = 2
	// joinBuffer is how much is written at a time to the file that is made.
	joinBuffer = 256 << 10
)

func newRing(path string, keep keeping, say func(string)) (*ring, error) {
	if err := writable(path); err != nil {
		return nil, err
	}
	r := &ring{path: path, keep: keep, say: say, open: openTrace, overrun: func() {}}
	r.in = nettrace.NewObjectReader(&r.feed)
	r.splicer.Keep = gc.Identifies
	return r, nil
}

// writable says whether a file can be made at a path, and leaves what is there.
func writable(path string) error {
	info, err := os.Stat(path)
	there := err == nil
	if there && !info.Mode().IsRegular() {
		return &outputError{path, errors.New("it is no regular file, beside which there is room for a ring")}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return &outputError{path, err}
	}
	err = f.Close()
	if !there {
		err = errors.Join(err, os.Remove(path))
	}
	return outputFailed(path, err)
}

// write takes whole objects. Where there is no room for them, it makes some by
// dropping the oldest segments.
func (r *ring) write(objects, _ []byte) (room int, err error) {
	r.feed.Reset(objects)
	for {
		o, err := r.in.Next()
		if errors.Is(err, io.EOF) {
			return 0, r.flush()
		}
		if err == nil {
			err = r.add(o)
		}
		if err != nil {
			return 0, outputFailed(r.path, err)
		}
	}
}

func (r *ring) add(o *nettrace.Object) error {
	last := r.last()
	if o.Events() && (last == nil || last.size+int64(r.pending.Len()+o.Size()) > r.segmentSize()) {
		if err := r.roll(o); err != nil {
			return err
		}
		last = r.last()
	}
	if last != nil && last.start == 0 && o.Starts(r.splicer.Latest()) {
		last.start = o.First
	}
	return r.splicer.Add(o)
}

func (r *ring) last() *segment {
	if len(r.segments) == 0 {
		return nil
	}
	return r.segments[len(r.segments)-1]
}

func (r *ring) segmentSize() int64 { return min(maxSegment, r.keep.size/minSegments) }

// roll begins a segment with an event block.
func (r *ring) roll(o *nettrace.Object) error {
	if err := r.close(); err != nil {
		return err
	}
	s := &segment{before: r.splicer.Latest()}
	err := r.making(func() error {
		var err error
		r.current, err = r.create(s)
		return err
	})
	if err != nil {
		return err
	}
	r.segments = append(r.segments, s)
	err = r.splicer.Begin(&r.pending, o)
	s.head = int64(r.pending.Len())
	return err
}

// create makes the file of a segment, under a name that no file has: one may be
// left of a ring that was killed.
func (r *ring) create(s *segment) (*traceOutput, error) {
	ext := filepath.Ext(r.path)
	for {
		r.number++
		s.path = fmt.Sprintf("%s.ring-%04d%s", strings.TrimSuffix(r.path, ext), r.number, ext)
		out, err := r.open(s.path, os.O_EXCL)
		if !errors.Is(err, os.ErrExist) {
			return out, err
		}
	}
}

// openTrace makes a file.
func openTrace(path string, flag int) (*traceOutput, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return nil, &outputError{path, err}
	}
	return &traceOutput{name: path, w: f, closer: f, file: f}, nil
}

// flush writes what the last segment has got, and drops what is too much.
func (r *ring) flush() error {
	if r.pending.Len() == 0 {
		return nil
	}
	_, end := r.splicer.Whole()
	err := r.making(func() error {
		_, err := r.current.write(r.pending.Bytes(), end)
		return err
	})
	n := int64(r.pending.Len())
	r.pending.Reset()
	if err != nil {
		return err
	}
	r.last().size += n
	r.size += n
	return r.trim()
}

// making writes, and while the disk is full drops the oldest segment and writes
// again.
func (r *ring) making(write func() error) error {
	for {
		err := write()
		if !isFull(err) || !r.spare() {
			return err
		}
		if err := r.drop(); err != nil {
			return err
		}
		if r.size < r.keep.size {
			r.keep.size = r.size
			r.say(fmt.Sprintf("%s: the disk is full, the ring is shortened to %s", r.path, units.Bytes(r.size)))
		}
	}
}

// isFull says whether something could not be written because there is no room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && errors.Is(err, errorDiskFull)
}

// errorDiskFull is Windows's ERROR_DISK_FULL.
const errorDiskFull = syscall.Errno(112)

// spare says whether the oldest segment may be dropped.
func (r *ring) spare() bool {
	return len(r.segments) > 1 && (r.held == 0 || r.segments[1].start != 0 && r.segments[1].start <= r.held)
}

// trim drops segments while the others are enough. What is held does not get old.
func (r *ring) trim() error {
	for len(r.segments) > 1 && !r.ending {
		next, latest := r.segments[1].start, r.splicer.Latest()
		old := r.keep.time > 0 && r.held == 0 && next != 0 && next < latest && latest-next > r.ticks(r.keep.time)
		if !old && r.size <= r.keep.size {
			return nil
		}
		if !r.spare() {
			r.overrun()
			return nil
		}
		if err := r.drop(); err != nil {
			return err
		}
		r.cut = r.cut || !old
	}
	return nil
}

// drop removes the oldest segment.
func (r *ring) drop() error {
	first := r.segments[0]
	r.segments = r.segments[1:]
	r.size -= first.size
	return first.remove()
}

func (s *segment) remove() error {
	if err := os.Remove(s.path); !errors.Is(err, os.ErrNotExist) {
		return outputFailed(s.path, err)
	}
	return nil
}

// ticks is how many ticks a time has.
func (r *ring) ticks(d time.Duration) uint64 { return r.in.Ticks(d) - r.in.Ticks(0) }

// hold keeps what is there from a time of the trace on: from now on, the ring
// rather overruns.
func (r *ring) hold(from time.Duration) { r.held = max(1, r.in.Ticks(from)) }

// close ends the last segment.
func (r *ring) close() error {
	if r.current == nil {
		return nil
	}
	err := errors.Join(r.flush(), r.current.close())
	r.current = nil
	return err
}

// remove removes the segments that are left.
func (r *ring) remove() error {
	var errs []error
	for len(r.segments) > 0 {
		errs = append(errs, r.drop())
	}
	return errors.Join(errs...)
}

// release gives up what the ring holds in memory. It is of no more use.
func (r *ring) release() {
	r.in, r.splicer, r.pending = nil, nettrace.Splicer{}, bytes.Buffer{}
}

// left says where the segments are that were not made a file of.
func (r *ring) left() string {
	paths := make([]string, len(r.segments))
	for i, s := range r.segments {
		paths[i] = s.path
	}
	return strings.Join(paths, ", ")
}

// A joint is where in a ring a trace is to start: before an object of a segment,
// both counted from 0. The first object of a segment never is one.
type joint struct{ segment, object int }

// join makes the file of what the ring holds from a time on, in ticks, or a
// little earlier: of the event blocks that a trace can start with, it starts with
// the last one before that time. Segments are removed as they are copied, so that
// little more room is needed than they have; on a full disk, the oldest ones make it.
// The file is nil where the ring holds nothing. On an error, what was not copied
// stays in the segments.
func (r *ring) join(from uint64) (*traceOutput, error) {
	for try := 0; len(r.segments) > 0; try++ {
		at, err := r.find(from)
		if err != nil {
			return nil, err
		}
		for range at.segment {
			if err := r.drop(); err != nil {
				return nil, err
			}
		}
		out, started, err := r.copyFrom(at.object)
		if !isFull(err) || started || try == maxShortened {
			return out, err
		}
		if len(r.segments) == 1 {
			return r.rename()
		}
		if err := r.shorten(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// shorten makes room for what is joined: by its oldest segment, or if something in
// that is held, by its last one.
func (r *ring) shorten() error {
	end, victim := "beginning", r.segments[0]
	if r.spare() {
		r.segments = r.segments[1:]
	} else {
		end, victim = "end", r.last()
		r.segments = r.segments[:len(r.segments)-1]
	}
	r.say(fmt.Sprintf("%s: the disk is full, the trace is shortened at its %s by %s", r.path, end, units.Bytes(victim.size)))
	return victim.remove()
}

// find finds where to start. A batch of the runtime's that lacks its beginning is
// left out, unless what is held is in it.
func (r *ring) find(from uint64) (joint, error) {
	var at joint
	found, latest := false, r.segments[0].before
	for i, s := range r.segments {
		n := 0
		err := s.each(func(o *nettrace.Object, head bool) error {
			n++
			if head || !o.Events() {
				return nil
			}
			first := at == (joint{})
			if !first && o.First > from && (found || r.held != 0 && o.First > r.held) {
				return errFound
			}
			if starts := o.Starts(latest); starts || first {
				found, at = starts, joint{i, n - 1}
			}
			latest = max(latest, o.Last)
			return nil
		})
		if err != nil && !errors.Is(err, errFound) {
			return at, err
		}
		if err != nil {
			break
		}
	}
	return at, nil
}

// errFound ends a search.
var errFound = errors.New("found")

// each calls fn with the objects of a segment, and tells it which are those that
// the others refer to. It returns the first error.
func (s *segment) each(fn func(o *nettrace.Object, head bool) error) error {
	f, err := os.Open(s.path)
	if err != nil {
		return &outputError{s.path, err}
	}
	defer f.Close()
	in := nettrace.NewObjectReader(f)
	for {
		o, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		if err := fn(o, in.Offset() < s.head); err != nil {
			return err
		}
	}
}

// copyFrom copies the ring from an object of its first segment on. It says whether
// a segment was copied, and is gone.
func (r *ring) copyFrom(object int) (out *traceOutput, started bool, err error) {
	out, err = r.open(r.path, os.O_TRUNC)
	if err != nil {
		return nil, false, err
	}
	j := joining{out: out, start: object}
	j.splicer.Keep = gc.Identifies
	for len(r.segments) > 0 && err == nil {
		if err = r.segments[0].each(j.add); err == nil {
			err = j.flush()
		}
		if err == nil {
			err = r.drop()
			started, j.later = true, true
		}
	}
	return out, started, errors.Join(err, out.close())
}

// rename makes the file of the only segment as it is.
func (r *ring) rename() (*traceOutput, error) {
	s := r.segments[0]
	if err := os.Rename(s.path, r.path); err != nil {
		return nil, &outputError{r.path, err}
	}
	r.segments = nil
	return &traceOutput{name: r.path, size: s.size}, nil
}

// A joining makes one trace of segments.
type joining struct {
	splicer nettrace.Splicer
	out     *traceOutput
	pending bytes.Buffer
	start   int  // index of the object in the first segment that the trace starts with
	later   bool // the first segment is done
}

func (j *joining) add(o *nettrace.Object, head bool) error {
	if j.later && head {
		return nil
	}
	if !j.later {
		if j.start == 0 {
			if err := j.splicer.Begin(&j.pending, o); err != nil {
				return err
			}
		}
		j.start--
	}
	if err := j.splicer.Add(o); err != nil {
		return err
	}
	if j.pending.Len() < joinBuffer {
		return nil
	}
	return j.flush()
}

func (j *joining) flush() error {
	_, end := j.splicer.Whole()
	_, err := j.out.write(j.pending.Bytes(), end)
	j.pending.Reset()
	return err
}
