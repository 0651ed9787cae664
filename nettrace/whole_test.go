package nettrace

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// A growing input records, before each read, how much of the bytes so far is whole.
type growing struct {
	in    io.Reader
	r     *Reader
	whole int64
	t     *testing.T
}

func (g *growing) Read(p []byte) (int, error) {
	size, _ := g.r.Whole()
	if size < g.whole {
		g.t.Errorf("%d bytes are whole, it was %d", size, g.whole)
	}
	g.whole = size
	return g.in.Read(p[:1])
}

// TestWhole truncates traces at every byte and mends them. The result ends as a trace
// does, has no damage, and lacks events of the last block only.
func TestWhole(t *testing.T) {
	for _, version := range []int{4, 6} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			data := small(t, WriterOptions{Version: version})
			for size := range len(data) + 1 {
				g := &growing{in: bytes.NewReader(data[:size]), t: t}
				g.r = NewReader(g, Options{})
				read := count(g.r)
				whole, end := g.r.Whole()
				if whole == 0 {
					if read > 0 || end != nil {
						t.Errorf("%d bytes: %d events and nothing whole", size, read)
					}
					continue
				}
				r := NewReader(bytes.NewReader(append(bytes.Clone(data[:whole]), end...)), Options{})
				mended := count(r)
				if _, end := r.Whole(); end != nil || r.Loss().Damaged > 0 || mended > read {
					t.Errorf("%d bytes: %d events of %d, end %v, loss %+v", size, mended, read, end, r.Loss())
				}
				if size == len(data) && (end != nil || whole != int64(size) || mended != read) {
					t.Errorf("a whole trace: %d of %d bytes, end %v", whole, size, end)
				}
			}
		})
	}
}

// TestWholeIn: a part of a trace from an object boundary is whole up to the same place as
// the trace up to the part's end.
func TestWholeIn(t *testing.T) {
	for _, version := range []int{4, 6} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			data := small(t, WriterOptions{Version: version})
			known := []int64{0}
			for size := range len(data) + 1 {
				r := NewReader(bytes.NewReader(data[:size]), Options{})
				count(r)
				whole, mark := r.Whole()
				if r.in.Version == 0 {
					continue // too short for a result
				}
				for _, off := range known {
					if n, end := r.WholeIn(data[off:size], off); int64(n) != whole-off || !bytes.Equal(end, mark) {
						t.Fatalf("bytes %d to %d: %d are whole, end %v, want %d, %v", off, size, n, end, whole-off, mark)
					}
				}
				if whole > known[len(known)-1] {
					known = append(known, whole)
				}
			}
		})
	}
}

// count reads a trace to its end and counts the events that can be read.
func count(r *Reader) (n int) {
	for _, err := range r.Events() {
		if err != nil {
			break
		}
		n++
	}
	return n
}
