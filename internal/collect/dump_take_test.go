package collect

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/gc/heap"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
)

// A snapshotRuntime answers requests for heap snapshots, of which the first ones have holes.
type snapshotRuntime struct {
	t     *testing.T
	holes int // snapshots with holes

	taken   atomic.Uint32
	mu      sync.Mutex
	asked   []diag.Config // of all sessions
	request chan struct{} // of a snapshot, from a session of its own
	written chan struct{}
}

// process serves the runtime.
func (r *snapshotRuntime) process(version string) *diag.Process {
	r.request, r.written = make(chan struct{}), make(chan struct{})
	server, err := diag.Serve(diag.ServerOptions{Folder: r.t.TempDir(), Collect: r.collect})
	if err != nil {
		r.t.Skip(err)
	}
	r.t.Cleanup(func() {
		if err := server.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return &diag.Process{Name: "web", Address: server.Address(), Info: &diag.Info{RuntimeVersion: version}}
}

// sessions returns the configurations of all sessions so far.
func (r *snapshotRuntime) sessions() []diag.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

func (r *snapshotRuntime) collect(c diag.Config) (diag.Tracing, error) {
	keywords := c.Providers[0].Keywords
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, c)
	s := &snapshotSession{r, keywords, make(chan struct{}), new(sync.Once)}
	if keywords == clr.KeywordGCHeapCollect {
		r.request <- struct{}{} // it is answered when the snapshot was written
		<-r.written
	}
	return s, nil
}

type snapshotSession struct {
	runtime  *snapshotRuntime
	keywords uint64
	stopped  chan struct{}
	stop     *sync.Once
}

func (s *snapshotSession) Stop() { s.stop.Do(func() { close(s.stopped) }) }

// Run writes a trace: snapshots, if the session has their events.
func (s *snapshotSession) Run(out io.Writer) error {
	w, err := nettrace.NewWriter(out, nettrace.WriterOptions{Start: time.Unix(1, 0), PID: 7})
	if err != nil {
		return err
	}
	switch r := s.runtime; {
	case s.keywords&clr.KeywordGCHeapDump == 0:
		<-s.stopped
	case s.keywords&clr.KeywordGCHeapCollect != 0:
		err = r.write(w)
		<-s.stopped
	default:
		for err == nil {
			select {
			case <-r.request:
				err = r.write(w)
				r.written <- struct{}{}
				continue
			case <-s.stopped:
			}
			break
		}
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// write writes a snapshot of two objects.
func (r *snapshotRuntime) write(w *nettrace.Writer) error {
	number, second := r.taken.Add(1), uint32(1)
	if int(number) <= r.holes {
		second++
	}
	maker := tracetest.Maker{PID: 7, TID: 1}
	at := time.Duration(number) * time.Second
	for i, e := range []clr.Event{
		&clr.GCStart{Count: number, Depth: 2, Reason: clr.GCReasonInduced},
		&clr.GCBulkNode{Values: []clr.GCBulkNodeValue{{Address: 0x100, Size: 24, TypeID: 1}}},
		&clr.GCBulkNode{Index: second, Values: []clr.GCBulkNodeValue{{Address: 0x200, Size: 24, TypeID: 1}}},
		&clr.GCEnd{Count: number, Depth: 2},
	} {
		if err := w.Write(1, maker.At(at+time.Duration(i)*time.Millisecond, e)); err != nil {
			return err
		}
	}
	return w.SequencePoint(int64(at + time.Second/2))
}

// TestRetake: a snapshot with holes is taken again, in the place of the first, or after it
// where several are asked for or nothing can be replaced; at most three are taken.
func TestRetake(t *testing.T) {
	const forget, read, ask = clr.KeywordGC, snapshotKeywords, clr.KeywordGCHeapCollect
	for name, test := range map[string]struct {
		holes, repeat  int
		stdout, single bool
		asked          []uint64 // sessions
		whole          string   // for each snapshot of the file, 1 if it is
	}{
		"whole":            {0, 1, false, false, []uint64{forget, read, ask}, "1"},
		"one with holes":   {1, 1, false, false, []uint64{forget, read, ask, forget, read, ask}, "1"},
		"only with holes":  {9, 1, false, false, []uint64{forget, read, ask, forget, read, ask, forget, read, ask}, "0"},
		"to a stream":      {1, 1, true, false, []uint64{forget, read, ask, ask}, "01"},
		"holes in streams": {9, 1, true, false, []uint64{forget, read, ask, ask, ask}, "000"},
		"repeated":         {2, 2, false, false, []uint64{forget, read, ask, ask, ask, ask}, "0011"},
		"one session":      {0, 1, false, true, []uint64{forget, read | ask}, "1"},
		"two after one":    {1, 1, false, true, []uint64{forget, read | ask, forget, read, ask}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &snapshotRuntime{t: t, holes: test.holes}
			var retaken []Retaken
			var sessions []int // of each snapshot
			var stdout bytes.Buffer
			path := filepath.Join(t.TempDir(), "web.nettrace")
			d := &Dump{
				Process: r.process("10.0.1"), Output: path, BufferMB: 8, Repeat: test.repeat, Stdout: &stdout,
				Notify: func(n Notice) {
					switch n := n.(type) {
					case Retaken:
						retaken = append(retaken, n)
					case Dumped:
						sessions = append(sessions, n.Sessions)
					}
				},
			}
			if test.stdout {
				d.Output = "-"
			}
			if test.single {
				if runtime.GOOS != "linux" {
					t.Skip("one session is taken where a process's memory can be read")
				}
				// This process has less memory than room in that buffer.
				d.Process.PID, d.Process.Info.RuntimeVersion, d.BufferMB = os.Getpid(), "8.0.1", 1<<20
			}
			if _, err := d.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if test.stdout {
				if err := os.WriteFile(path, stdout.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := wholeness(dotnettest.Snapshots(t, path)); got != test.whole {
				t.Errorf("snapshots are whole: %s", got)
			}
			want := []int{2, 2, 2, 2}
			if test.single {
				want[0] = 1
			}
			if len(sessions) == 0 || !slices.Equal(sessions, want[:len(sessions)]) {
				t.Errorf("sessions of the snapshots: %d", sessions)
			}
			var asked []uint64
			for _, c := range r.sessions() {
				asked = append(asked, c.Providers[0].Keywords)
			}
			if !slices.Equal(asked, test.asked) {
				t.Errorf("sessions: %#x", asked)
			}
			for i, n := range retaken {
				if n.Nth != i+2 || n.Most != dumpTries || n.Process != d.Process {
					t.Errorf("retaken: %+v", n)
				}
			}
			if want := min(test.holes, dumpTries-1); len(retaken) != want {
				t.Errorf("%d were taken again, want %d", len(retaken), want)
			}
		})
	}
}

// wholeness has a digit for each snapshot, 1 if it is whole.
func wholeness(all []*heap.Snapshot) string {
	digits := make([]byte, len(all))
	for i, s := range all {
		digits[i] = '0'
		if s.Missing.Whole() {
			digits[i] = '1'
		}
	}
	return string(digits)
}

// TestBufferFor: the buffer is the usual one, unless the process's memory announces a large
// snapshot.
func TestBufferFor(t *testing.T) {
	for heap, want := range map[int64]uint32{0: DumpBufferMB, 118e6: DumpBufferMB, 300e6: 137, 1e12: maxDumpBufferMB} {
		if got := bufferFor(gc.Some(CostOf(heap))); got != want {
			t.Errorf("%d bytes: %d MB", heap, got)
		}
	}
	if got := bufferFor(gc.Opt[DumpCost]{}); got != DumpBufferMB {
		t.Errorf("unknown: %d MB", got)
	}
}
