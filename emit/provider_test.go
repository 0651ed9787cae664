package emit_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/internal/dotnettest"
	"github.com/gctrail/gctrail/trace"
)

// TestSessionsGetWhatTheyWant: a session gets the events of its levels and keywords, and
// no others; events without keywords, or of level 0, come in any case.
func TestSessionsGetWhatTheyWant(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	runtime := func(keywords uint64, level uint8) []emit.Wanted {
		return []emit.Wanted{{Provider: "microsoft-windows-dotnetruntime", Keywords: keywords, Level: level}}
	}
	events := []clr.Event{
		&clr.GCStart{},                  // keyword 1, level 4
		&clr.GCAllocationTick{},         // keyword 1, level 5
		&clr.SetGCHandle{},              // keyword 2, level 4
		&clr.GCCreateConcurrentThread{}, // keywords 1 and 0x10000
		&clr.RuntimeInformationStart{},  // no keyword, level 4
		&clr.BGCBegin{},                 // another provider
	}
	tests := []struct {
		wanted []emit.Wanted
		want   []bool
	}{
		{nil, []bool{true, false, false, true, true, true}},
		{runtime(1, 4), []bool{true, false, false, true, true, false}},
		{runtime(1, 5), []bool{true, true, false, true, true, false}},
		{runtime(2, 4), []bool{false, false, true, false, true, false}},
		{runtime(0x10000, 5), []bool{false, false, false, true, true, false}},
		{runtime(0, 5), []bool{false, false, false, false, true, false}},
		{runtime(1, 3), []bool{false, false, false, false, false, false}},
		{[]emit.Wanted{}, []bool{false, false, false, false, false, false}},
	}
	outs := make([]bytes.Buffer, len(tests))
	var sessions []*emit.Session
	for i, tt := range tests {
		sessions = append(sessions, start(t, p, &outs[i], emit.SessionOptions{Providers: tt.wanted, NoRundown: true}))
	}
	for _, e := range events {
		p.Raise(e)
	}
	for i, s := range sessions {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		got := map[clr.Kind]bool{}
		for _, ev := range readAll(t, &outs[i]) {
			got[clr.KindOf(ev.Desc.Provider, ev.Desc.ID)] = true
		}
		for j, e := range events {
			if k := e.EventKind(); got[k] != tests[i].want[j] {
				t.Errorf("session %d: %v: %v", i, k, got[k])
			}
		}
	}
	for _, e := range events {
		if p.Enabled(e.EventKind()) {
			t.Errorf("%v is enabled without a session", e.EventKind())
		}
	}
}

func TestAllocations(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	disabled := func() {
		if p.Enabled(clr.KindGCAllocationTick) {
			p.Raise(&clr.GCAllocationTick{})
		}
	}
	if n := testing.AllocsPerRun(100, disabled); n != 0 {
		t.Errorf("disabled: %v allocations", n)
	}
	s := start(t, p, io.Discard, emit.SessionOptions{Providers: emit.GCVerbose()})
	defer s.Close()
	tick := &clr.GCAllocationTick{TypeName: clr.NewUTF16("System.String")}
	if n := testing.AllocsPerRun(1000, func() { p.Raise(tick) }); n >= 1 {
		t.Errorf("enabled: %v allocations", n)
	}
}

// TestConcurrentSessions raises events on many goroutines while sessions come and go; the
// traces are whole, with each thread's events in order. The goroutines wait for a session after
// each batch, so that all events together fit in a buffer.
func TestConcurrentSessions(t *testing.T) {
	t.Parallel()
	p := newProvider(t, emit.ProviderOptions{})
	stop, batches := make(chan struct{}), make(chan struct{})
	var raising, sessions sync.WaitGroup
	for range 8 {
		raising.Go(func() {
			thread := p.NewThread()
			defer thread.Close()
			for n := uint32(0); ; n++ {
				thread.Raise(&clr.GCFinalizersEnd{Count: n})
				p.Raise(&clr.GCTriggered{})
				if n%64 > 0 {
					continue
				}
				select {
				case batches <- struct{}{}:
				case <-stop:
					return
				}
			}
		})
	}
	for i := range 8 {
		sessions.Go(func() {
			var out bytes.Buffer
			s := start(t, p, &out, emit.SessionOptions{Version: 4 + 2*(i%2), Block: i%3 == 0, BufferBytes: 4 << 20})
			for range 20 * i {
				<-batches
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if n := s.Dropped(); n > 0 {
				t.Errorf("session %d dropped %d events", i, n)
			}
			last := map[uint64]uint32{}
			for _, ev := range readAll(t, &out) {
				if clr.KindOf(ev.Desc.Provider, ev.Desc.ID) != clr.KindGCFinalizersEnd {
					continue
				}
				var e clr.GCFinalizersEnd
				e.Decode(ev.Desc.Version, ev.Payload, 8)
				if n, ok := last[ev.TID]; ok && e.Count != n+1 {
					t.Errorf("thread %d: %d after %d", ev.TID, e.Count, n)
				}
				last[ev.TID] = e.Count
			}
		})
	}
	sessions.Wait()
	close(stop)
	raising.Wait()
}

// TestBlock: a session that blocks loses nothing, however slow its writer.
func TestBlock(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	var out bytes.Buffer
	s := start(t, p, slow(&out), emit.SessionOptions{Block: true, BufferBytes: 1, NoRundown: true})
	const each = 5000
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range each {
				p.Raise(&clr.GCHeapStats{})
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(readAll(t, &out)); n != 4*each || s.Dropped() != 0 {
		t.Errorf("%d events, %d dropped", n, s.Dropped())
	}
}

// slow returns a writer that delays what w gets.
func slow(w io.Writer) io.Writer {
	return dotnettest.SlowWriter{W: w, Pause: 100 * time.Microsecond}
}

// TestWriterFails: a writer that fails ends its session, not the program, even if the
// program waits for it.
func TestWriterFails(t *testing.T) {
	full := errors.New("disk full")
	p := newProvider(t, emit.ProviderOptions{})
	s := start(t, p, &failing{left: 1 << 10, err: full}, emit.SessionOptions{Block: true, BufferBytes: 1})
	for deadline := time.Now().Add(time.Minute); p.Enabled(clr.KindGCHeapStats); {
		p.Raise(&clr.GCHeapStats{})
		if time.Now().After(deadline) {
			t.Fatal("the session goes on")
		}
	}
	for range 2 {
		if err := s.Close(); !errors.Is(err, full) {
			t.Errorf("Close: %v", err)
		}
	}
}

type failing struct {
	left int
	err  error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, f.err
	}
	return len(b), nil
}

func TestTooManySessions(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	for range emit.MaxSessions {
		start(t, p, io.Discard, emit.SessionOptions{})
	}
	if _, err := p.Start(io.Discard, emit.SessionOptions{}); !errors.Is(err, emit.ErrSessions) {
		t.Errorf("got %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Start(io.Discard, emit.SessionOptions{}); !errors.Is(err, emit.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCreate(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{Process: emit.Process{PID: 7, CommandLine: `"/my game/server" -x`, OS: "Plan 9", Arch: "mips"}})
	path := filepath.Join(t.TempDir(), "x.nettrace")
	s, err := p.Create(path, emit.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var info clr.ProcessInfo
	events := readAll(t, bytes.NewBuffer(b))
	if err := info.Decode(events[0].Desc.Version, events[0].Payload, 8); err != nil {
		t.Fatal(err)
	}
	if info.CommandLine.String() != `"/my game/server" -x` || info.OSInformation.String() != "Plan 9" || events[0].PID != 7 {
		t.Errorf("got %+v of %d", info, events[0].PID)
	}
	for range s.Written() {
		return
	}
	t.Error("nothing was written")
}

// TestEarlier: an existing file stays until the new trace has begun; a zip, until it is
// complete.
func TestEarlier(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	dir := t.TempDir()
	begun, ended, zip := filepath.Join(dir, "begun"), filepath.Join(dir, "ended"), filepath.Join(dir, "trace.zip")
	for _, path := range []string{begun, ended, zip} {
		if err := os.WriteFile(path, []byte("earlier"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && string(b) == "earlier"
	}
	if _, err := p.Create(ended, emit.SessionOptions{Version: 5}); err == nil || !is(ended) {
		t.Errorf("of a session that cannot begin: %v, earlier: %t", err, is(ended))
	}
	s, err := p.Create(begun, emit.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	z, err := p.CreateCTF(zip, emit.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if is(begun) || !is(zip) {
		t.Errorf("earlier while recording: the trace %t, the zip %t", is(begun), is(zip))
	}
	if err := errors.Join(s.Close(), z.Close()); err != nil || is(zip) {
		t.Errorf("the zip in the end: %v, earlier: %t", err, is(zip))
	}
	if left, err := os.ReadDir(dir); len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestRefused(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	if _, err := emit.NewProvider(emit.ProviderOptions{Versions: map[clr.Kind]uint32{clr.KindGCStart: 3}}); err == nil {
		t.Error("GCStart has no version 3")
	}
	if _, err := p.Start(io.Discard, emit.SessionOptions{Version: 5}); err == nil {
		t.Error("no sessions of version 5")
	}
	if _, err := p.Create(t.TempDir(), emit.SessionOptions{}); err == nil {
		t.Error("a folder is no file")
	}
	for _, d := range []trace.Descriptor{
		{Provider: "P"},
		{Name: "N"},
		{Provider: clr.RuntimeProvider, ID: 1, Name: "GCStart"},
		{Provider: "P", Name: "N", Version: 256},
		{Provider: "P", Name: "N", Level: 6},
		{Provider: "P", Name: "N", Fields: []trace.Field{{Name: "F", Type: trace.Decimal}}},
		{Provider: "P", Name: "N", Fields: []trace.Field{{Name: "F", Type: trace.Array}}},
	} {
		if _, err := p.Define(d); err == nil {
			t.Errorf("no error for %+v", d)
		}
	}
}

// TestRaiseAt: events can be placed in the past, as far as the provider allows, and come
// out in order.
func TestRaiseAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t, emit.ProviderOptions{Late: time.Minute})
		var out bytes.Buffer
		s := start(t, p, &out, emit.SessionOptions{NoRundown: true})
		base := time.Now()
		time.Sleep(2 * time.Millisecond)
		thread := p.NewThread()
		p.Raise(&clr.GCTriggered{})
		for i, at := range []time.Time{base, base.Add(time.Millisecond), base.Add(time.Millisecond)} {
			if err := thread.RaiseAt(at, &clr.GCFinalizersEnd{Count: uint32(i)}); err != nil {
				t.Error(err)
			}
		}
		for _, at := range []time.Time{base, time.Now().Add(-2 * time.Minute)} {
			if err := thread.RaiseAt(at, &clr.GCFinalizersEnd{}); !errors.Is(err, emit.ErrLate) {
				t.Errorf("got %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		events := readAll(t, &out)
		if len(events) != 4 || events[1].Ticks-events[0].Ticks != int64(time.Millisecond) || events[3].TID == thread.ID() {
			t.Errorf("got %+v", events)
		}
	})
}

// Sessions that block wait for each other, and lose nothing.
func TestBlockTwice(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	var outs [2]bytes.Buffer
	var sessions [2]*emit.Session
	for i := range sessions {
		sessions[i] = start(t, p, slow(&outs[i]), emit.SessionOptions{Block: true, BufferBytes: 1, NoRundown: true})
	}
	const each = 5000
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range each {
				p.Raise(&clr.GCHeapStats{})
			}
		})
	}
	wg.Wait()
	for i, s := range sessions {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(readAll(t, &outs[i])); n != 4*each || s.Dropped() != 0 {
			t.Errorf("%d events, %d dropped", n, s.Dropped())
		}
	}
}
