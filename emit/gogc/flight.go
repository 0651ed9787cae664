package gogc

import (
	"bytes"
	"fmt"
	"runtime/trace"
	"slices"
	"time"
)

const (
	// window is how much of the execution trace is kept in memory. It must hold more than
	// two looks, even of a program that does nothing but switch goroutines.
	window = 4 << 20
	// maxStops bounds the stops that wait for the end of their cycle.
	maxStops = 1 << 12
	// drift is how much the trace's clock may differ from the clock of the cycles' ends,
	// because both are tied to the time of day.
	drift = 100 * time.Microsecond
)

// A flight records Go's execution trace in memory, and finds the stops in it.
type flight struct {
	recorder *trace.FlightRecorder
	snapshot bytes.Buffer
	reader   stopReader
	stops    []stop // of cycles that were not asked for yet
}

// takeOff starts the recorder. It fails if the program has another one running, or writes
// execution traces of an unknown format.
func takeOff() (*flight, error) {
	f := &flight{recorder: trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 2 * interval, MaxBytes: window})}
	if err := f.recorder.Start(); err != nil {
		return nil, fmt.Errorf("gogc: %w", err)
	}
	if err := f.look(); err != nil {
		f.recorder.Stop()
		return nil, err
	}
	return f, nil
}

// find reads the stops up to the last one of a cycle, between the end of the cycle before
// and its own end. It tries again for a while, because the stop may reach the trace late:
// by microseconds, or as long as the system takes the processor away from the thread that
// writes it.
func (f *flight) find(before, end time.Time) {
	const longest = 50 * time.Millisecond
	for wait := time.Millisecond; f.look() == nil && wait < longest; wait *= 2 {
		if i := f.last(end); i >= 0 && f.stops[i].begin.After(before) {
			return
		}
		time.Sleep(wait)
	}
}

// look finds the stops since it looked last.
func (f *flight) look() error {
	f.snapshot.Reset()
	if _, err := f.recorder.WriteTo(&f.snapshot); err != nil {
		return fmt.Errorf("gogc: %w", err)
	}
	stops, err := f.reader.read(f.snapshot.Bytes())
	if err != nil {
		return err
	}
	f.stops = append(f.stops, stops...)
	f.order()
	if n := len(f.stops) - maxStops; n > 0 {
		f.stops = slices.Delete(f.stops, 0, n)
	}
	return nil
}

// order sorts the stops, because the end of a stop may be recorded after the next one has
// begun.
func (f *flight) order() {
	slices.SortStableFunc(f.stops, func(a, b stop) int { return a.begin.Compare(b.begin) })
	for i := 1; i < len(f.stops); i++ {
		if s := &f.stops[i-1]; s.end.After(f.stops[i].begin) {
			s.end = f.stops[i].begin
		}
	}
}

// of returns the stops of the cycle whose last one ended at a time, first to last; nil if
// the trace lacks one. It forgets them and all earlier ones.
func (f *flight) of(end time.Time) []stop {
	last := f.last(end)
	if last < 0 {
		return nil
	}
	first := last
	for first >= 0 && f.stops[first].final {
		first--
	}
	var cycle []stop
	if first >= 0 {
		cycle = slices.Clone(f.stops[first : last+1])
	}
	f.stops = slices.Delete(f.stops, 0, last+1)
	return cycle
}

// last returns the place of the stop that a cycle ended in, -1 if it is not there. The
// end of the cycle lies within the stop, because Go reads the clock while the program is
// stopped.
func (f *flight) last(end time.Time) int {
	for i, s := range slices.Backward(f.stops) {
		if s.final && !s.begin.After(end.Add(drift)) && !s.end.Before(end.Add(-drift)) {
			return i
		}
	}
	return -1
}
