package etw

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gctrail/gctrail/internal/outfile"
)

// onDisk mounts a disk of a size.
func onDisk(t *testing.T, size int64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skip("no disk can be mounted: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// on returns a chain on a disk with some bytes of room. After the first buffer, each file
// has so many buffers of a trace.
func on(t *testing.T, buffers [][]byte, files []int, room int64) *chain {
	t.Helper()
	dir := onDisk(t, 8<<20)
	f := newRecorder()
	f.first = bytes.Join(buffers[:1+files[0]], nil)
	s, err := Start(f, &Options{Path: filepath.Join(dir, "x.etl"), Limits: Limits{Time: 24 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	c := newChain(s)
	now := time.Now()
	if err := c.await(now); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.close() })
	written := 1 + files[0]
	for _, n := range files[1:] {
		f.turned = func(path string) {
			data := slices.Concat(buffers[0], bytes.Join(buffers[written:written+n], nil))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			written += n
		}
		c.grow()
		now = now.Add(2 * time.Hour)
		if err := c.tend(now, now.Add(-24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if c.grow(); len(c.segments) != len(files) {
		t.Fatalf("%d files, want %d", len(c.segments), len(files))
	}
	free, known := outfile.FreeSpace(dir)
	if !known || free <= room {
		t.Fatalf("room for %d bytes, known %t", free, known)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, free-room), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestJoinFull joins files on a disk without room for the second: the oldest is removed
// for it or, if that is held, the latest. If the disk fills up later, the files that
// could not be joined are left.
func TestJoinFull(t *testing.T) {
	buffers := buffersOf(t, realTraces[1]) // of about 15 kB
	const kB = 1 << 10
	for name, c := range map[string]struct {
		files []int
		room  int64
		held  bool
		want  [2]int   // buffers that the trace has, from and to
		said  []string // parts of messages
		left  []string
	}{
		"enough room":          {files: []int{10, 10, 10}, room: 200 * kB, want: [2]int{1, 31}},
		"the first is removed": {files: []int{10, 10, 10}, room: 40 * kB, want: [2]int{11, 31}, said: []string{"at its beginning by"}},
		"the last is removed":  {files: []int{10, 10, 10}, room: 40 * kB, held: true, want: [2]int{1, 21}, said: []string{"at its end by"}},
		"one can stay":         {files: []int{3, 25, 25}, want: [2]int{29, 54}, said: []string{"at its beginning by", "at its beginning by"}},
		"full in between":      {files: []int{10, 5, 25}, room: 100 * kB, want: [2]int{1, 16}, left: []string{"x.ring-0003.etl"}},
	} {
		t.Run(name, func(t *testing.T) {
			chain := on(t, buffers, c.files, c.room)
			dir := filepath.Dir(chain.session.trace)
			if c.held {
				chain.hold(time.Now())
			}
			var said []string
			chain.say = func(text string) { said = append(said, text) }
			err := chain.join(chain.session.trace, time.Time{})
			if (err != nil) != (len(c.left) > 0) || err != nil && !outfile.IsFull(err) {
				t.Fatal(err)
			}
			data, err := os.ReadFile(chain.session.trace)
			if err != nil {
				t.Fatal(err)
			}
			want := bytes.Join(buffers[c.want[0]:c.want[1]], nil)
			if !bytes.Equal(data[len(buffers[0]):], want) {
				t.Errorf("%d bytes, want %d", len(data), len(buffers[0])+len(want))
			}
			if _, r := collectionsIn(t, bytes.NewReader(data), int64(len(data))); r.Loss().Damaged > 0 {
				t.Errorf("%+v", r.Loss())
			}
			if len(said) != len(c.said) {
				t.Fatalf("said %q", said)
			}
			for i, part := range c.said {
				if !strings.Contains(said[i], "x.etl: the disk is full, the trace is shortened "+part) {
					t.Errorf("said %q", said[i])
				}
			}
			if got, want := filesIn(t, dir), append([]string{"other", "x.etl"}, c.left...); !slices.Equal(got, want) {
				t.Errorf("files %q, want %q", got, want)
			}
			for i, path := range chain.left() {
				if filepath.Base(path) != c.left[i] {
					t.Errorf("left %q, want %q", path, c.left[i])
				}
			}
		})
	}
}
