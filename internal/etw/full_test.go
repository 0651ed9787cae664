package etw

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/etl"
)

// TestEnd: a session that can write no more ends, however Windows reports that, and so
// does one that another tool has stopped. Other sessions continue until ctx is done.
func TestEnd(t *testing.T) {
	stopped := func(f *callRecorder) { clear(f.started) }
	nothing := func(*callRecorder) {}
	for name, c := range map[string]struct {
		first func(*callRecorder) // called at the first query
		done  func(*callRecorder) // called when ctx is done; nil if the session ends before
		want  error
	}{
		"stopped on a full disk":     {first: func(f *callRecorder) { f.free = 0; stopped(f) }, want: ErrDiskFull},
		"buffers lost, full disk":    {first: func(f *callRecorder) { f.free = 0; f.lost.Buffers = 1 }, want: ErrDiskFull},
		"a query says so":            {first: func(f *callRecorder) { f.fail["Query"] = StatusDiskFull }, want: ErrDiskFull},
		"stopped":                    {first: stopped, want: ErrStopped},
		"stopped, room is unknown":   {first: func(f *callRecorder) { f.free = -1; stopped(f) }, want: ErrStopped},
		"buffers lost":               {first: func(f *callRecorder) { f.lost.Buffers = 1 }, done: nothing},
		"events lost on a full disk": {first: func(f *callRecorder) { f.free = 0; f.lost.Events = 1 }, done: nothing},
		"last buffers lost":          {first: nothing, done: func(f *callRecorder) { f.free = 0; f.lost.Buffers = 1 }, want: ErrDiskFull},
		"stopping says so":           {first: nothing, done: func(f *callRecorder) { f.fail["Stop"] = StatusDiskFull }, want: ErrDiskFull},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newRecorder()
				f.first = bytes.Join(buffersOf(t, realTraces[0]), nil)
				s, err := Start(f, &Options{Path: filepath.Join(t.TempDir(), "x.etl")})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
				defer stop()
				queries := 0
				f.queried = func() {
					switch queries++; {
					case queries == 1:
						c.first(f)
					case queries == 3 && c.done != nil:
						c.done(f)
						stop()
					}
				}
				follower, err := FollowFiles(ctx, s)
				if err != nil {
					t.Fatal(err)
				}
				defer follower.Close()
				events := 0
				for _, err := range follower.Reader(etl.Options{}).Events() {
					if err != nil {
						t.Fatal(err)
					}
					events++
				}
				if !errors.Is(follower.End(), c.want) || follower.Err() != nil || len(f.started) > 0 || events == 0 {
					t.Errorf("ended because of %v, want %v; error %v, still running: %d, %d events", follower.End(), c.want, follower.Err(), len(f.started), events)
				}
				if want := map[bool]int{true: 1, false: 3}[c.done == nil]; queries != want {
					t.Errorf("%d queries, want %d", queries, want)
				}
				if follower.Loss() != f.lost && len(f.fail) == 0 && !errors.Is(c.want, ErrStopped) {
					t.Errorf("lost %v, want %v", follower.Loss(), f.lost)
				}
			})
		})
	}
}

// TestOtherLoss: the loss of the kernel's session is known even if another tool stops it,
// which does not end the first.
func TestOtherLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newRecorder()
		f.first = bytes.Join(buffersOf(t, realTraces[0]), nil)
		dir := t.TempDir()
		s, err := Start(f, &Options{Path: filepath.Join(dir, "x.etl")})
		if err != nil {
			t.Fatal(err)
		}
		k, err := StartKernel(f, filepath.Join(dir, "x.kernel.etl"), Limits{}, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
		defer stop()
		queries := 0
		f.queried = func() {
			switch queries++; queries { // of the kernel's and the first, in turn
			case 1:
				f.lost = Loss{Events: 5, Buffers: 2}
			case 2:
				f.lost = Loss{}
			case 3:
				delete(f.started, k.name)
			case 6:
				stop()
			}
		}
		follower, err := FollowFiles(ctx, s, k)
		if err != nil {
			t.Fatal(err)
		}
		defer follower.Close()
		for _, err := range follower.Reader(etl.Options{}).Events() {
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := (Loss{Events: 5, Buffers: 2}); follower.OtherLoss() != want || follower.Loss() != (Loss{}) || follower.End() != nil || follower.Err() != nil {
			t.Errorf("lost %v, want %v; the first %v, ended because of %v, error %v", follower.OtherLoss(), want, follower.Loss(), follower.End(), follower.Err())
		}
	})
}

// TestNoRoom: a session without a file on a full disk reports that there is no room, and
// none of its files is left.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRecorder()
		dir := t.TempDir()
		s, err := Start(f, &Options{Path: filepath.Join(dir, "x.etl")})
		if err != nil {
			t.Fatal(err)
		}
		f.first = []byte("the first buffer")
		k, err := StartKernel(f, filepath.Join(dir, "x.kernel.etl"), Limits{}, false)
		if err != nil {
			t.Fatal(err)
		}
		f.free = 0
		if _, err := FollowFiles(context.Background(), k, s); !errors.Is(err, ErrDiskFull) || len(f.started) > 0 {
			t.Errorf("%v, still running: %d", err, len(f.started))
		}
		if left := filesIn(t, dir); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

func filesIn(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestEarlier: an existing trace at the path is replaced by a new one, but survives a
// session that cannot start.
func TestEarlier(t *testing.T) {
	const earlier = "a whole trace"
	path := filepath.Join(t.TempDir(), "x.etl")
	if err := os.WriteFile(path, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	survives := func() {
		t.Helper()
		if b, err := os.ReadFile(path); err != nil || string(b) != earlier {
			t.Fatalf("%q, %v", b, err)
		}
	}
	f := newRecorder()
	f.first = bytes.Join(buffersOf(t, realTraces[0]), nil)
	f.fail["StartTrace"] = StatusDiskFull
	if _, err := Start(f, &Options{Path: path}); !errors.Is(err, StatusDiskFull) {
		t.Fatal(err)
	}
	survives()
	delete(f.fail, "StartTrace")
	f.fail["Enable"] = StatusDenied
	if _, err := Start(f, &Options{Path: path, Providers: []Provider{gcOnly()}}); !errors.Is(err, StatusDenied) {
		t.Fatal(err)
	}
	survives()
	if left := filesIn(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	s, err := Start(f, &Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	follower, err := FollowFiles(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	survives()
	stop()
	for _, err := range follower.Reader(etl.Options{}).Events() {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := follower.Join(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, f.first) || len(follower.Left()) > 0 {
		t.Errorf("%d bytes, want %d, %v, left %q", len(b), len(f.first), err, follower.Left())
	}
	if left := filesIn(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
}

// TestChainFull: on a disk with little room, a chain removes its oldest files, reports
// that, and remains a trace. Without room for another file, the session continues in the
// same.
func TestChainFull(t *testing.T) {
	buffers := buffersOf(t, realTraces[1])
	var said []string
	r := turn(t, buffers, Limits{Time: 24 * time.Hour})
	r.chain.say = func(text string) { said = append(said, text) }
	f := r.chain.session.system.(*callRecorder)
	f.fail["Update"] = StatusDiskFull
	random := rand.New(rand.NewPCG(1, 8))
	for r.written < len(buffers) {
		switch {
		case r.written > len(buffers)*2/3:
			f.free = 0
		case r.written > len(buffers)/3:
			delete(f.fail, "Update")
		}
		if n := len(r.chain.segments); r.written <= len(buffers)/3 && n != 1 {
			t.Fatalf("%d files, though there is room for one", n)
		}
		r.step(random, 2*time.Hour)
	}
	if n := len(r.chain.segments); n > 2 || !r.chain.dropped || r.chain.cut {
		t.Errorf("%d files, dropped %t, for their size %t", n, r.chain.dropped, r.chain.cut)
	}
	if len(said) == 0 || !strings.Contains(said[0], "x.etl: the disk is full, the ring is shortened to ") {
		t.Errorf("said %q", said)
	}
	if err := r.chain.finish(); err != nil {
		t.Fatal(err)
	}
	data := r.joined(t)
	all := bytes.Join(buffers, nil)
	want, _ := collectionsIn(t, bytes.NewReader(all), int64(len(all)))
	got, rest := collectionsIn(t, bytes.NewReader(data), int64(len(data)))
	underWay := func(s string) bool { return strings.HasSuffix(s, "?") }
	got, want = slices.DeleteFunc(got, underWay), slices.DeleteFunc(want, underWay)
	if len(got) == 0 || len(got) >= len(want) || !slices.Equal(got, want[len(want)-len(got):]) || rest.Loss().Damaged > 0 {
		t.Errorf("%q of %q, %+v", got, want, rest.Loss())
	}
}

// TestChainHeld: held events are not removed, even if the disk has little room.
func TestChainHeld(t *testing.T) {
	buffers := buffersOf(t, realTraces[1])
	r := turn(t, buffers, Limits{Time: 24 * time.Hour})
	r.chain.hold(r.now)
	r.chain.session.system.(*callRecorder).free = 0
	random := rand.New(rand.NewPCG(1, 9))
	for r.written < len(buffers) {
		r.step(random, 2*time.Hour)
	}
	if r.chain.dropped || len(r.chain.segments) < 3 {
		t.Errorf("%d files, dropped %t", len(r.chain.segments), r.chain.dropped)
	}
}
