package watch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gctrail/gctrail/internal/eventpipe"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

const (
	// maxRecorded bounds the retained trace of a process, in bytes.
	maxRecorded = 16 << 20
	// maxRecordedInAll bounds the bytes of the traces of all processes.
	maxRecordedInAll = 128 << 20
)

// ErrNothingRecorded reports a process that has no trace to save.
var ErrNothingRecorded = errors.New("no data received from it yet")

// A recording is the trace of a process as it arrived. When it gets too long, its
// older half is cut off.
type recording struct {
	data []byte
	cut  bool      // the beginning is not there any more
	full bool      // nothing more is taken: the trace cannot be cut
	came time.Time // when data was last added
}

func (r *recording) add(p []byte, limit int) {
	if !r.full && len(r.data)+len(p) > limit {
		r.shorten()
	}
	if !r.full {
		r.data = append(r.data, p...)
	}
}

// shorten cuts off the older half of the trace. The rest begins like a trace. It moves by
// a multiple of four bytes, so that its objects stay aligned and later bytes can be
// appended.
func (r *recording) shorten() {
	rest, err := shortened(r.data)
	if err != nil {
		r.full = true
		return
	}
	r.data, r.cut = rest, true
}

// endTag is the size of the tag behind each object, which the runtime may write
// later than the object.
const endTag = 1

// shortened returns the second half of data as a trace: its whole objects, spliced, and
// the received part of the next object, unchanged.
func shortened(data []byte) ([]byte, error) {
	var (
		splicer eventpipe.Splicer
		out     bytes.Buffer
		begun   bool
		in      = eventpipe.NewObjectReader(bytes.NewReader(data))
		whole   int
	)
	for {
		o, err := in.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		end := in.Offset() + endTag
		if end > int64(len(data)) {
			break
		}
		if !begun && o.Events() && in.Offset() > int64(len(data)/2) {
			begun = true
			if err := splicer.Begin(&out, o); err != nil {
				return nil, err
			}
		}
		if err := splicer.Add(o); err != nil {
			return nil, err
		}
		whole = int(end)
	}
	if !begun {
		return nil, errors.New("the trace has no events in its second half")
	}
	return append(out.Bytes(), data[whole:]...), nil
}

// A recorder takes the bytes of a process's trace.
type recorder struct {
	w *Watcher
	r *row
}

func (t recorder) Write(p []byte) (int, error) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.r.trace.came = time.Now()
	t.r.trace.add(p, min(maxRecorded, maxRecordedInAll/max(1, len(t.w.rows))))
	return len(p), nil
}

// quiet is the time without data after which a runtime has written the events of all
// threads, because it writes every 100 ms.
const quiet = 250 * time.Millisecond

// settled returns the length of a trace before the last batch of event blocks. The batch
// is left out, because the blocks of some threads may not have arrived yet.
func settled(data []byte) int {
	in := eventpipe.NewObjectReader(bytes.NewReader(data))
	var latest uint64
	var before, size int64
	for {
		o, err := in.Next()
		if err != nil {
			return int(size)
		}
		if o.Events() {
			if latest > 0 && o.Starts(latest) {
				size = before
			}
			latest = max(latest, o.Last)
		}
		before = min(in.Offset()+endTag, int64(len(data)))
	}
}

// Save writes the retained part of a process's trace to a .nettrace file, up to the point
// before which all events were received, and returns its size.
func (w *Watcher) Save(id int, to io.Writer) (int, error) {
	w.mu.Lock()
	var data []byte
	for _, r := range w.rows {
		if r.id == id {
			data = bytes.Clone(r.trace.data)
			if n := settled(data); n > 0 && time.Since(r.trace.came) < quiet {
				data = data[:n]
			}
		}
	}
	w.mu.Unlock()
	if len(data) == 0 {
		return 0, ErrNothingRecorded
	}
	nothing := func(*trace.Descriptor) bool { return false }
	r := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{Want: nothing})
	for _, err := range r.Events() {
		if err != nil {
			return 0, fmt.Errorf("%w (%w)", ErrNothingRecorded, err)
		}
	}
	size, end := r.Whole()
	if size == 0 {
		return 0, ErrNothingRecorded
	}
	return to.Write(append(data[:size:size], end...))
}
