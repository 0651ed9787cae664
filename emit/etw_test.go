package emit_test

import (
	"errors"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/emit"
	"github.com/gctrail/gctrail/gc"
	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/trace"
)

// TestETWWants: events are raised according to the enable callbacks, from the first to
// the last.
func TestETWWants(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{Process: emit.Process{CommandLine: "shop"}})
	fake := emit.NewFakeETW()
	s, err := p.StartFakeETW(fake)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fake.Registered(), []string{tracetest.RuntimeGUID, tracetest.PrivateGUID, tracetest.RundownGUID}; !slices.Equal(got, want) {
		t.Errorf("registered %v, want %v", got, want)
	}
	thread := p.NewThread()
	raise := func() (kinds []clr.Kind) {
		for _, e := range []clr.Event{&clr.GCTriggered{}, &clr.GCAllocationTick{}, &clr.SetGCHandle{}, &clr.BGCBegin{}} {
			thread.Raise(e)
		}
		for _, e := range fake.Take() {
			kinds = append(kinds, kindOf(&e))
		}
		return kinds
	}
	const (
		disable, enable, capture = 0, 1, 2
		gcKeyword, handleKeyword = 0x1, 0x2
	)
	var (
		none    []clr.Kind
		trigger = []clr.Kind{clr.KindGCTriggered}
		ticks   = []clr.Kind{clr.KindGCTriggered, clr.KindGCAllocationTick}
		handles = append(slices.Clone(ticks), clr.KindSetGCHandle)
	)
	for _, c := range []struct {
		name     string
		provider string
		code     uint32
		level    uint8
		any, all uint64
		want     []clr.Kind
	}{
		{"collections", clr.RuntimeProvider, enable, 4, gcKeyword, 0, trigger},
		{"the state", clr.RuntimeProvider, capture, 0, 0, 0, trigger},
		{"an unknown code", clr.RuntimeProvider, 7, 5, handleKeyword, 0, trigger},
		{"verbose", clr.RuntimeProvider, enable, 5, gcKeyword, 0, ticks},
		{"all levels", clr.RuntimeProvider, enable, 0, gcKeyword | handleKeyword, 0, handles},
		{"all keywords", clr.RuntimeProvider, enable, 4, 0, 0, append(slices.Clone(trigger), clr.KindSetGCHandle)},
		{"two keywords at once", clr.RuntimeProvider, enable, 5, gcKeyword, gcKeyword | handleKeyword, none},
		{"nothing", clr.RuntimeProvider, disable, 0, 0, 0, none},
		{"the private provider", clr.PrivateProvider, enable, 4, gcKeyword, 0, []clr.Kind{clr.KindBGCBegin}},
		{"the rundown provider", clr.RundownProvider, enable, 4, 0, 0, []clr.Kind{clr.KindRuntimeInformationDCStart, clr.KindBGCBegin}},
		{"its state", clr.RundownProvider, capture, 4, 0, 0, []clr.Kind{clr.KindRuntimeInformationDCStart, clr.KindBGCBegin}},
	} {
		fake.Control(c.provider, c.code, c.level, c.any, c.all)
		if got := raise(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := raise(); got != nil || len(fake.Registered()) != 0 || s.Dropped() != 0 || p.Enabled(clr.KindBGCBegin) {
		t.Errorf("after the end: %v, %v, %d dropped", got, fake.Registered(), s.Dropped())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func kindOf(e *tracetest.ETLEvent) clr.Kind {
	provider, _ := clr.ProviderByGUID(tracetest.ParseGUID(e.Provider))
	return clr.KindOf(provider, uint32(e.ID))
}

// TestETWStart: a process introduces itself to sessions that were there before it.
func TestETWStart(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{Process: emit.Process{CommandLine: "shop -x", Settings: &clr.GCSettingsRundown{}}})
	fake := emit.NewFakeETW(emit.Wanted{Provider: clr.RuntimeProvider, Level: 4, Keywords: 1}, emit.Wanted{Provider: clr.RundownProvider, Level: 4})
	s, err := p.StartFakeETW(fake)
	if err != nil {
		t.Fatal(err)
	}
	custom, err := p.Define(trace.Descriptor{Provider: clr.RuntimeProvider, ID: 9999, Name: "Own"})
	if err != nil {
		t.Fatal(err)
	}
	if custom.Enabled() {
		t.Error("a custom event is enabled")
	}
	events := fake.Take()
	var kinds []clr.Kind
	for i := range events {
		kinds = append(kinds, kindOf(&events[i]))
	}
	if want := []clr.Kind{clr.KindRuntimeInformationStart, clr.KindRuntimeInformationDCStart, clr.KindGCSettingsRundown}; !slices.Equal(kinds, want) {
		t.Fatalf("got %v, want %v", kinds, want)
	}
	var e clr.RuntimeInformationStart
	if err := e.Decode(0, events[0].Payload, 8); err != nil || e.CommandLine.String() != "shop -x" {
		t.Errorf("%+v, %v", e, err)
	}
	if !p.Enabled(clr.KindGCStart) {
		t.Error("collections are not enabled")
	}
	if err := errors.Join(p.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestETWFails: events that ETW refuses are counted, and failures leave nothing behind.
func TestETWFails(t *testing.T) {
	full := errors.New("no buffer")
	p := newProvider(t, emit.ProviderOptions{})
	fake := emit.NewFakeETW(emit.Wanted{Provider: clr.RuntimeProvider, Level: 4, Keywords: 1})
	s, err := p.StartFakeETW(fake)
	if err != nil {
		t.Fatal(err)
	}
	fake.Err = full
	p.Raise(&clr.GCTriggered{})
	if s.Dropped() != 1 {
		t.Errorf("%d dropped", s.Dropped())
	}
	if err := s.Close(); !errors.Is(err, full) {
		t.Error(err)
	}
	for range emit.MaxSessions + 1 {
		if _, err := p.StartFakeETW(fake); !errors.Is(err, full) {
			t.Fatal(err)
		}
	}
	if p.Enabled(clr.KindGCTriggered) {
		t.Error("a session that failed wants events")
	}
}

func TestETWLayout(t *testing.T) {
	if emit.ETWEventSize != 16 {
		t.Errorf("descriptors of %d bytes", emit.ETWEventSize)
	}
	if bits.UintSize == 64 && (emit.ETWDataSize != 16 || emit.ETWDataLength != 8) {
		t.Errorf("data of %d bytes, with its length at %d", emit.ETWDataSize, emit.ETWDataLength)
	}
}

// Windows takes the provider, and other systems have no ETW.
func TestStartETW(t *testing.T) {
	p := newProvider(t, emit.ProviderOptions{})
	s, err := p.StartETW()
	if runtime.GOOS != "windows" || bits.UintSize != 64 {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Raise(&clr.GCTriggered{})
	if err := s.Close(); err != nil || s.Dropped() != 0 {
		t.Errorf("%v, %d dropped", err, s.Dropped())
	}
}

// TestETWCollectionsComeBack: readers of .etl files find the collections in the events.
func TestETWCollectionsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.etl")
	rapid.Check(t, func(t *rapid.T) {
		p, err := emit.NewProvider(emit.ProviderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fake := emit.NewFakeETW(emit.GCCollect()...)
		if _, err := p.StartFakeETW(fake); err != nil {
			t.Fatal(err)
		}
		h := newHistory(t, p)
		h.run()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		file := tracetest.NewETL()
		file.Header.Frequency, file.Header.Time = 1e9, 0
		buffer := file.Buffer(0)
		for _, e := range fake.Take() {
			buffer.Event(e)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var model gc.Model
		n := 0
		for c, err := range model.Collections(in.Source) {
			if err != nil {
				t.Fatal(err)
			}
			r := h.raised[slices.IndexFunc(h.raised, func(r *raised) bool { return r.Number() == c.Number })]
			r.compareFigures(t, c)
			n++
		}
		if n != len(h.raised) {
			t.Errorf("%d collections, want %d", n, len(h.raised))
		}
	})
}
