package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/etw"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/text"
	"github.com/gctrail/gctrail/internal/units"
)

// A Ring stores the end of a trace on disk, in segments next to the file that
// they will become. Each segment is a complete trace at any time. Its memory
// does not depend on how much it stores.
type Ring struct {
	// Say is called with a message if a full disk shortens the ring.
	Say func(string)
	// Overrun is called if the ring has no room for the part that it must hold.
	Overrun func()

	path   string // of the file that is to be made
	limits Limits
	// create creates the file, as CreateFile does, and open a segment.
	create func(path string) (*File, error)
	open   func(path string, flag int) (*File, error)
	// free returns the room on the disk, and whether it is known.
	free func() (int64, bool)

	in       *eventpipe.ObjectReader
	feed     bytes.Reader // the source of in
	splicer  eventpipe.Splicer
	pending  bytes.Buffer // of the last segment, not written
	segments []*segment
	current  *File // the last segment's file
	number   int   // of the last segment
	longest  int64 // size that a segment may have
	size     int64 // of all segments

	held   uint64 // nothing since this time is dropped; 0 if nothing is held
	ending bool   // nothing more is dropped
	cut    bool   // something was dropped because limits.Size was exceeded
}

// Limits bound the contents of a ring, as they bound an ETW session's.
type Limits = etw.Limits

const (
	// maxSegment bounds a segment, but for a single object that is larger.
	maxSegment = 16_000_000
	// minSegments is the smallest number of segments in a full ring. There must be
	// several, because segments are dropped whole.
	minSegments = 16
	// maxShortened is the number of segments that may be dropped to make room
	// for the others.
	maxShortened = 2
	// joinBuffer is how much is written to the joined file at a time.
	joinBuffer = 256 << 10
)

// NewRing returns a ring for a file at a path. The file is not created yet.
func NewRing(path string, limits Limits) (*Ring, error) {
	if err := writable(path); err != nil {
		return nil, err
	}
	r := &Ring{Say: func(string) {}, Overrun: func() {}, path: path, limits: limits, create: CreateFile, open: openSegment}
	r.free = func() (int64, bool) { return outfile.FreeSpace(filepath.Dir(path)) }
	r.in = eventpipe.NewObjectReader(&r.feed)
	r.splicer.Keep = gc.Identifies
	return r, nil
}

// writable reports whether a file can be created at a path, without changing an
// existing file.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	f, err := outfile.Create(path, mode, nil)
	if err != nil {
		return err
	}
	return f.Close()
}

var errIrregular = errors.New("segments can only be stored next to a regular file")

// Path returns the path of the file to be created.
func (r *Ring) Path() string { return r.path }

// Write takes complete objects of a V4 trace. If there is no room for them, it
// drops the oldest segments. room is always 0.
func (r *Ring) Write(objects, _ []byte) (room int, err error) {
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
			return 0, err
		}
	}
}

func (r *Ring) add(o *eventpipe.Object) error {
	last := r.last()
	if o.Events() && (last == nil || last.size+int64(r.pending.Len()+o.Size()) > r.longest) {
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

func (r *Ring) last() *segment {
	if len(r.segments) == 0 {
		return nil
	}
	return r.segments[len(r.segments)-1]
}

// segmentSize returns how large segments are, so that several fit on the disk.
func (r *Ring) segmentSize() int64 {
	size := min(maxSegment, r.limits.Size/minSegments)
	if free, known := r.free(); known {
		size = min(size, (free+r.size)/minSegments)
	}
	return size
}

// roll begins a segment with an event block.
func (r *Ring) roll(o *eventpipe.Object) error {
	if err := r.Close(); err != nil {
		return err
	}
	r.longest = r.segmentSize()
	s := &segment{before: r.splicer.Latest()}
	err := r.making(func() error {
		var err error
		r.current, err = r.begin(s)
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

// begin creates the file of a segment. It skips existing files, because a killed process
// may have left some.
func (r *Ring) begin(s *segment) (*File, error) {
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

// flush writes the buffered part of the last segment, and drops segments beyond the
// limits.
func (r *Ring) flush() error {
	if r.pending.Len() == 0 {
		return nil
	}
	_, end := r.splicer.Whole()
	err := r.making(func() error {
		_, err := r.current.Write(r.pending.Bytes(), end)
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

// making calls write. While the disk is full, it makes room and tries again.
func (r *Ring) making(write func() error) error {
	for {
		err := write()
		if !outfile.IsFull(err) {
			return err
		}
		made, roomErr := r.makeRoom()
		if roomErr != nil {
			return roomErr
		}
		if !made {
			return err
		}
		if r.size < r.limits.Size {
			r.limits.Size = r.size
			r.Say(fmt.Sprintf("%s: the disk is full, the ring is shortened to %s", r.path, units.Bytes(r.size)))
		}
	}
}

// makeRoom drops the oldest segment, or the older half of the only one. It reports
// whether there was something to drop.
func (r *Ring) makeRoom() (bool, error) {
	switch {
	case r.spare():
		return true, r.drop()
	case len(r.segments) == 1 && r.segments[0].size > 0 && r.held == 0:
		return r.halve()
	default:
		return false, nil
	}
}

// halve cuts the older half off the only segment, which has filled a disk that had room
// for more when the segment was begun. It overwrites the file, because another program
// could take the room if the file were removed.
func (r *Ring) halve() (bool, error) {
	half, objects, err := r.segments[0].youngerHalf()
	if err != nil || half == nil {
		return false, err
	}
	file := r.current
	if file == nil {
		if file, err = r.open(half.path, 0); err != nil {
			return false, err
		}
		defer file.Close()
	}
	_, end := r.splicer.Whole()
	if err := file.Replace(objects, end); err != nil {
		return false, err
	}
	r.segments[0], r.size = half, half.size
	r.longest = r.segmentSize()
	return true, nil
}

// spare reports whether the oldest segment can be dropped.
func (r *Ring) spare() bool {
	return len(r.segments) > 1 && (r.held == 0 || r.segments[1].start != 0 && r.segments[1].start <= r.held)
}

// trim drops segments as long as the others suffice. It does not drop held ones.
func (r *Ring) trim() error {
	for len(r.segments) > 1 && !r.ending {
		next, latest := r.segments[1].start, r.splicer.Latest()
		old := r.limits.Time > 0 && r.held == 0 && next != 0 && next < latest && latest-next > r.ticks(r.limits.Time)
		if !old && r.size <= r.limits.Size {
			return nil
		}
		if !r.spare() {
			r.Overrun()
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
func (r *Ring) drop() error {
	first := r.segments[0]
	r.segments = r.segments[1:]
	r.size -= first.size
	return first.remove()
}

// ticks returns how many ticks a time has.
func (r *Ring) ticks(d time.Duration) uint64 { return r.in.Ticks(d) - r.in.Ticks(0) }

// Hold keeps everything since a time of the trace. From now on, the ring
// overruns rather than drop it.
func (r *Ring) Hold(from time.Duration) { r.held = max(1, r.in.Ticks(from)) }

// End marks the end of the trace. After it the ring only grows.
func (r *Ring) End() { r.ending = true }

// Cut reports whether segments were dropped for the ring's size, and not for their age.
func (r *Ring) Cut() bool { return r.cut }

// Close ends the last segment.
func (r *Ring) Close() error {
	if r.current == nil {
		return nil
	}
	err := errors.Join(r.flush(), r.current.Close())
	r.current = nil
	return err
}

// Remove removes the remaining segments, and frees the ring's memory. The ring must not
// be used any more.
func (r *Ring) Remove() error {
	r.in, r.splicer, r.pending = nil, eventpipe.Splicer{}, bytes.Buffer{}
	var errs []error
	for len(r.segments) > 0 {
		errs = append(errs, r.drop())
	}
	return errors.Join(errs...)
}

// Left returns the paths of the segments that were not joined.
func (r *Ring) Left() []string {
	return text.Each(r.segments, func(s **segment) string { return (*s).path })
}
