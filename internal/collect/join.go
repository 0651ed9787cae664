package collect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/internal/outfile"
	"github.com/gctrail/gctrail/internal/units"
)

// A joint is the place in a ring at which a trace starts: before an object of a
// segment, both counted from 0. It is never the first object of a segment.
type joint struct{ segment, object int }

// JoinFrom creates the file from the ring's contents since a time of the trace:
// it starts with the last event block before that time at which a trace can
// start. Segments are removed once they are copied, so joining needs little
// extra room; on a full disk, the oldest segments are dropped. The file is
// closed; it is nil if the ring is empty. After an error, everything that was
// not copied is still in the segments. The ring must have been closed.
func (r *Ring) JoinFrom(from time.Duration) (*File, error) { return r.join(r.in.Ticks(from)) }

// JoinLast is JoinFrom with a time before the trace's last event; 0 for all.
func (r *Ring) JoinLast(d time.Duration) (*File, error) {
	latest := r.splicer.Latest()
	if d == 0 || r.ticks(d) > latest {
		return r.join(0)
	}
	return r.join(latest - r.ticks(d))
}

// join joins the segments since a time, in ticks.
func (r *Ring) join(from uint64) (*File, error) {
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
		if !outfile.IsFull(err) || started || try == maxShortened {
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

// shorten makes room for joining by dropping the oldest segment, or, if that is held, the
// last one.
func (r *Ring) shorten() error {
	end, victim := "beginning", r.segments[0]
	if r.spare() {
		r.segments = r.segments[1:]
	} else {
		end, victim = "end", r.last()
		r.segments = r.segments[:len(r.segments)-1]
	}
	r.Say(fmt.Sprintf("%s: the disk is full, the trace is shortened at its %s by %s", r.path, end, units.Bytes(victim.size)))
	return victim.remove()
}

// find finds the joint to start at. It leaves out a batch of the runtime without its
// beginning, unless the batch is needed.
func (r *Ring) find(from uint64) (joint, error) {
	var at joint
	found, latest := false, r.segments[0].before
	for i, s := range r.segments {
		n := 0
		err := s.each(func(o *eventpipe.Object, head bool) error {
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

// copyFrom copies the ring, beginning with an object of its first segment. It
// reports whether a segment was copied and removed. An earlier file stays until the first
// segment is copied.
func (r *Ring) copyFrom(object int) (out *File, started bool, err error) {
	out, err = r.create(r.path)
	if err != nil {
		return nil, false, err
	}
	out.hold = true
	j := joining{out: out, start: object}
	j.splicer.Keep = gc.Identifies
	for len(r.segments) > 0 && err == nil {
		if err = r.segments[0].each(j.add); err == nil {
			err = j.flush()
		}
		if err == nil {
			err = out.publish()
		}
		if err == nil {
			err = r.drop()
			started, j.later = true, true
		}
	}
	return out, started, errors.Join(err, out.Close())
}

// rename makes the only segment the file.
func (r *Ring) rename() (*File, error) {
	s := r.segments[0]
	if err := os.Rename(s.path, r.path); err != nil {
		return nil, err
	}
	r.segments = nil
	return &File{name: r.path, size: s.size}, nil
}

// A joining joins segments to one trace.
type joining struct {
	splicer eventpipe.Splicer
	out     *File
	pending bytes.Buffer
	start   int  // index of the object in the first segment that the trace starts with
	later   bool // the first segment is done
}

func (j *joining) add(o *eventpipe.Object, head bool) error {
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
	_, err := j.out.Write(j.pending.Bytes(), end)
	j.pending.Reset()
	return err
}
