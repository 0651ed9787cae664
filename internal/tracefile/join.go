package tracefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/nettrace"
)

// A joint is where in a ring a trace is to start: before an object of a segment,
// both counted from 0. The first object of a segment never is one.
type joint struct{ segment, object int }

// JoinFrom makes the file of what the ring holds from a time of the trace on,
// or a little earlier: of the event blocks that a trace can start with, it
// starts with the last one before that time. Segments are removed as they are
// copied, so that little more room is needed than they have; on a full disk,
// the oldest ones make it. The file is closed; it is nil if the ring holds
// nothing. On an error, what was not copied stays in the segments. The ring
// must have been closed.
func (r *Ring) JoinFrom(from time.Duration) (*File, error) { return r.join(r.in.Ticks(from)) }

// JoinLast is JoinFrom with a time before the trace's last event; 0 for all.
func (r *Ring) JoinLast(d time.Duration) (*File, error) {
	latest := r.splicer.Latest()
	if d == 0 || r.ticks(d) > latest {
		return r.join(0)
	}
	return r.join(latest - r.ticks(d))
}

// join joins from a time on, in ticks.
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

// find finds where to start. A batch of the runtime that lacks its beginning is
// left out, unless what is held is in it.
func (r *Ring) find(from uint64) (joint, error) {
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

// copyFrom copies the ring from an object of its first segment on. It reports whether
// a segment was copied, and is gone.
func (r *Ring) copyFrom(object int) (out *File, started bool, err error) {
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
	return out, started, errors.Join(err, out.Close())
}

// rename makes the file of the only segment as it is.
func (r *Ring) rename() (*File, error) {
	s := r.segments[0]
	if err := os.Rename(s.path, r.path); err != nil {
		return nil, err
	}
	r.segments = nil
	return &File{name: r.path, size: s.size}, nil
}

// A joining makes one trace of segments.
type joining struct {
	splicer nettrace.Splicer
	out     *File
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
	_, err := j.out.Write(j.pending.Bytes(), end)
	j.pending.Reset()
	return err
}
