package nettrace_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gctrail/gctrail/internal/tracetest"
	"github.com/gctrail/gctrail/nettrace"
	"github.com/gctrail/gctrail/trace"
)

// TestRealTraces reads whole real traces of all versions that runtimes write.
func TestRealTraces(t *testing.T) {
	for _, test := range []struct {
		name      string
		format    string
		pointer   int
		events    int
		lost      uint64
		exactness trace.Exactness
		cut       bool
	}{
		{"net21-win-x86-objver3.netperf", "netperf V3", 4, 28689, 0, trace.Unknown, false},
		{"net30-win-x64-survival.nettrace", "nettrace V4", 8, 105540, 0, trace.Exact, false},
		{"net10-wks-web-collect.nettrace", "nettrace V4", 8, 7100, 0, trace.Exact, false},
		{"net10-lossy-handles.nettrace", "nettrace V4", 8, 150543, 2387521, trace.Exact, false},
		{"net10-killed-web.nettrace", "nettrace V4", 8, 1144, 0, trace.LowerBound, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := nettrace.NewReader(bytes.NewReader(tracetest.Gunzip(t, "../testdata/"+test.name+".gz")), nettrace.Options{})
			var events int
			last := time.Duration(-1 << 62)
			for ev, err := range r.Events() {
				if err != nil {
					t.Fatal(err)
				}
				if ev.Time() < last {
					t.Fatalf("event %d at %v follows one at %v", events, ev.Time(), last)
				}
				last = ev.Time()
				events++
			}
			loss := r.Loss()
			if r.Info().Format != test.format || r.Info().PointerSize != test.pointer {
				t.Errorf("%s with pointers of %d bytes, want %s with %d", r.Info().Format, r.Info().PointerSize, test.format, test.pointer)
			}
			if events != test.events {
				t.Errorf("%d events, want %d", events, test.events)
			}
			if loss.Events != test.lost || loss.Exactness != test.exactness || loss.Truncated != test.cut || loss.Late != 0 || loss.Damaged != 0 {
				t.Errorf("loss %+v", loss)
			}
		})
	}
}

// TestReadSizes reads a trace in the smallest pieces an io.Reader may give.
func TestReadSizes(t *testing.T) {
	data := tracetest.Gunzip(t, "../testdata/net10-killed-web.nettrace.gz")
	r := nettrace.NewReader(iotest.OneByteReader(bytes.NewReader(data)), nettrace.Options{Stacks: true})
	events := 0
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events++
	}
	if events != 1144 {
		t.Errorf("%d events, want 1144", events)
	}
}

func TestReadTwice(t *testing.T) {
	r := nettrace.NewReader(bytes.NewReader(tracetest.Gunzip(t, "../testdata/net10-killed-web.nettrace.gz")), nettrace.Options{})
	for range r.Events() {
		break
	}
	for _, err := range r.Events() {
		if !errors.Is(err, trace.ErrUsed) {
			t.Errorf("second range: %v", err)
		}
	}
}

// TestReadError treats an input that fails in its middle like a truncated trace.
func TestReadError(t *testing.T) {
	data := tracetest.Gunzip(t, "../testdata/net10-killed-web.nettrace.gz")
	broken := errors.New("disk gone")
	r := nettrace.NewReader(io.MultiReader(bytes.NewReader(data[:50_000]), iotest.ErrReader(broken)), nettrace.Options{})
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
	}
	loss := r.Loss()
	if !loss.Truncated || loss.Damaged != 1 || !errors.Is(loss.Damage[0].Err, broken) {
		t.Errorf("loss %+v", loss)
	}
}

func TestRefusals(t *testing.T) {
	whole := tracetest.Gunzip(t, "../testdata/net10-killed-web.nettrace.gz")
	for _, test := range []struct {
		name, input string
		is          error
		text        string
	}{
		{"empty", "", trace.ErrNotTrace, "nettrace: header at 0x0: not a trace: empty"},
		{"text", "hello, world", trace.ErrNotTrace, "nettrace: header at 0x0: not a trace"},
		{"magic only", "Nettrace", io.ErrUnexpectedEOF, "nettrace: header at 0x8: unexpected EOF"},
		{"cut in the trace object", string(whole[:80]), io.ErrUnexpectedEOF, "nettrace: trace object at 0x50: unexpected EOF"},
		{
			"V7", "Nettrace\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00", trace.ErrUnsupportedVersion,
			"nettrace: header at 0x14: version not supported: nettrace V7, this reader knows netperf V3 and nettrace V4 to V6",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := nettrace.NewReader(strings.NewReader(test.input), nettrace.Options{})
			for ev, err := range r.Events() {
				if ev != nil || !errors.Is(err, test.is) || err.Error() != test.text {
					t.Errorf("%v, %v, want %s", ev, err, test.text)
				}
			}
		})
	}
}

// TestSteadyState: the number of allocations does not grow with the events.
func TestSteadyState(t *testing.T) {
	data := tracetest.Gunzip(t, "../testdata/net10-lossy-handles.nettrace.gz")
	allocs := testing.AllocsPerRun(3, func() {
		r := nettrace.NewReader(bytes.NewReader(data), nettrace.Options{})
		for range r.Events() {
			continue
		}
	})
	if allocs > 2000 { // for 150,543 events: metadata, threads, buffers
		t.Errorf("%.0f allocations", allocs)
	}
}
