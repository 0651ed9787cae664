package ctf

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestRepeat writes a trace of 210 MB into the folder GCTRAIL_REPEAT_TO: the one
// in the folder GCTRAIL_REPEAT again and again, for measurements. Each repetition
// is another process and later in time.
func TestRepeat(t *testing.T) {
	from, to := os.Getenv("GCTRAIL_REPEAT"), os.Getenv("GCTRAIL_REPEAT_TO")
	if from == "" || to == "" {
		t.Skip("no folder is named")
	}
	const total = 210 << 20
	r, err := Open(os.DirFS(from), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := int(total/r.Size()) + 1
	for _, s := range r.m.streams {
		for _, f := range s.files {
			dir := filepath.Join(to, filepath.Dir(f.path))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			meta, err := fs.ReadFile(r.m.fsys, filepath.Join(filepath.Dir(f.path), metadataName))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, metadataName), meta, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		repeat(t, r, s, to, n)
	}
}

// A place is a field that differs between repetitions.
type place struct {
	off  int64
	kind placeKind
}

type placeKind uint8

const (
	placePID placeKind = iota
	placeStamp
	placeSequence
)

// repeat writes the file of one stream n times into one. It knows what LTTng
// writes on x86-64 with the contexts vpid, vtid and procname, in that order.
func repeat(t *testing.T, r *Reader, s *stream, to string, n int) {
	path := s.files[0].path
	data, err := fs.ReadFile(r.m.fsys, path)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue()
	s.m.queue = q
	s.m.refill()
	go func() { // gives every kind of event a description
		for b := range q.full {
			if b.ask != nil {
				r.define(b.ask)
				q.answered <- struct{}{}
			}
			q.recycle(b)
		}
	}()
	places, packets := s.places(t)
	close(q.full)
	out, err := os.Create(filepath.Join(to, path))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for i := range n {
		b := append([]byte(nil), data...)
		for _, p := range places {
			switch at := b[p.off:]; p.kind {
			case placePID:
				binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+uint32(i)<<13) // at most maxPID
			case placeStamp: // 32-bit time stamps stay as they are
				binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(i)<<34)
			case placeSequence:
				binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(i*packets))
			}
		}
		if _, err := out.Write(b); err != nil {
			t.Fatal(err)
		}
	}
}

// places finds the values that differ between repetitions.
func (s *stream) places(t *testing.T) (places []place, packets int) {
	for s.inside || s.nextPacket() {
		if s.passed() == 0 {
			packets++
			places = append(places, place{s.at + 32, placeStamp}, place{s.at + 40, placeStamp}, place{s.at + 64, placeSequence})
		}
		for s.readEvent() {
			name := s.window.off + int64(s.head.nameOff)
			places = append(places, place{name - 8, placePID}, place{name - 4, placePID})
			if s.head.low == 1<<64-1 {
				places = append(places, place{name - 16, placeStamp})
			}
			if !s.payload() {
				t.Fatal("payload")
			}
			s.m.out.data = s.m.out.data[:0]
		}
		s.leave()
	}
	return places, packets
}
