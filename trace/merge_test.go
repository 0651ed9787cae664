package trace_test

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gctrail/gctrail/trace"
)

// A fake source has events at given ticks, of alternating processes.
type fake struct {
	info  trace.Info
	loss  trace.Loss
	ticks []int64
	pids  []uint64
	err   error
}

func (f *fake) Info() *trace.Info { return &f.info }
func (f *fake) Loss() *trace.Loss { return &f.loss }

func (f *fake) Counts() iter.Seq2[*trace.Descriptor, uint64] {
	return func(yield func(*trace.Descriptor, uint64) bool) { yield(&trace.Descriptor{}, uint64(len(f.ticks))) }
}

func (f *fake) Events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		var ev trace.Event
		for i, t := range f.ticks {
			ev = trace.Event{Ticks: t, Clock: f.info.Clock, PID: f.pids[i%len(f.pids)]}
			if !yield(&ev, nil) {
				return
			}
		}
		if f.err != nil {
			yield(nil, f.err)
		}
	}
}

func source(start time.Time, frequency int64, pid uint64, ticks ...int64) *fake {
	return &fake{info: trace.Info{Format: "fake", Start: start, Clock: &trace.Clock{Frequency: frequency}}, ticks: ticks, pids: []uint64{pid}}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestMerge(t *testing.T) {
	a := source(noon.Add(1500*time.Millisecond), 2_630_627, 1, 0, 2_630_627) // 1.5 s, 2.5 s
	b := source(noon, 1_000_000_000, 2, 1_000_000_000, 2_000_000_000, 3_000_000_000)
	a.info.Processes = map[uint64]trace.Process{1: {Name: "a"}}
	b.pids = []uint64{2, 1}
	a.loss.Add(5, time.Second, 2*time.Second)
	a.loss.Exactness, b.loss.Exactness, b.loss.Truncated = trace.Exact, trace.LowerBound, true
	b.info.Last = 3 * time.Second
	m := trace.Merge(a, b)
	var at []time.Duration
	for ev, err := range m.Events() {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, ev.Time().Round(time.Microsecond))
	}
	if want := []time.Duration{time.Second, 1500 * time.Millisecond, 2500 * time.Millisecond, 3 * time.Second}; !slices.Equal(at, want) {
		t.Errorf("events at %v, want %v", at, want)
	}
	if left := m.Excluded(); !maps.Equal(left, map[uint64]uint64{1: 1}) {
		t.Errorf("left out %v", left)
	}
	if info := m.Info(); !info.Start.Equal(noon) || info.Format != "fake + fake" || info.Last.Round(time.Microsecond) != 3*time.Second || info.Processes[1].Name != "a" {
		t.Errorf("info %+v", info)
	}
	loss := m.Loss()
	if loss.Events != 5 || !loss.Truncated || loss.Exactness != trace.LowerBound || loss.Touches(0, 2*time.Second) || !loss.Touches(3*time.Second, 3*time.Second) {
		t.Errorf("loss %+v", loss)
	}
	if m.Disjoint() {
		t.Error("the sources overlap, and are said to be apart")
	}
	var counted uint64
	for _, n := range m.Counts() {
		counted += n
	}
	if counted != 5 {
		t.Errorf("%d events counted", counted)
	}
}

func TestMergeApart(t *testing.T) {
	m := trace.Merge(source(noon.Add(time.Hour), 1000, 1, 1), source(noon, 1000, 2, 1))
	for range m.Events() {
		continue
	}
	if !m.Disjoint() {
		t.Error("an hour lies between the sources")
	}
}

// TestMergeNames takes the name of a process from the source that has its events, in that
// source's last version.
func TestMergeNames(t *testing.T) {
	a, b := source(noon, 1000, 1, 1, 2, 3), source(noon, 1000, trace.UnknownID, 1, 4)
	a.info.Processes = map[uint64]trace.Process{1: {Name: "thread"}}
	b.info.Processes = map[uint64]trace.Process{1: {Name: "of another machine"}, 2: {Name: "idle"}}
	m := trace.Merge(a, b)
	n := 0
	for ev := range m.Events() {
		if got := m.Info().Processes[1]; ev.PID == 1 && got != a.info.Processes[1] {
			t.Errorf("after event %d process 1 is %+v", n, got)
		}
		a.info.Processes[1] = trace.Process{Name: "program"}
		n++
	}
	if want := map[uint64]trace.Process{1: {Name: "program"}, 2: {Name: "idle"}}; !maps.Equal(m.Info().Processes, want) {
		t.Errorf("processes %+v, want %+v", m.Info().Processes, want)
	}
	if n != 5 || len(m.Excluded()) > 0 {
		t.Errorf("%d events, left out %v", n, m.Excluded())
	}
}

func TestMergeErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name   string
		source *fake
		want   error
	}{
		{"no time of day", source(time.Time{}, 1000, 2, 1), trace.ErrNoCommonTime},
		{"an error at once", &fake{info: trace.Info{Start: noon}, err: broken}, broken},
		{"an error later", &fake{info: trace.Info{Start: noon, Clock: &trace.Clock{Frequency: 1}}, ticks: []int64{1}, pids: []uint64{1}, err: broken}, broken},
	} {
		var last error
		for _, err := range trace.Merge(source(noon, 1000, 1, 1, 2), test.source).Events() {
			if last != nil {
				t.Errorf("%s: something follows the error", test.name)
			}
			last = err
		}
		if !errors.Is(last, test.want) {
			t.Errorf("%s: %v, want %v", test.name, last, test.want)
		}
	}
}
