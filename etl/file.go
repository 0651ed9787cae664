package etl

import (
	"io"
	"math"

	"github.com/gctrail/gctrail/internal/units"
	"github.com/gctrail/gctrail/trace"
)

// A File is one of several trace files that belong together.
type File struct {
	io.ReaderAt
	Size int64
	Name string // for errors
}

// A file is an .etl file while it is read.
type file struct {
	r      io.ReaderAt
	size   int64
	name   string
	number uint8
	header *logfileHeader
	survey survey
	walked walking

	growing bool // a session is still writing it

	frequency int64 // of its time stamps
	// The trace's ticks are the file's, counted from base, or FILETIME's if the clocks of
	// several files differ.
	base   int64
	scaled bool
	shift  int64 // of scaled ticks
}

func (f *file) open() error {
	h, err := readHeader(f.r, f.size)
	if err == nil {
		f.frequency, err = h.ticksPerSecond()
	}
	if err != nil {
		return &trace.FormatError{Format: "etl", File: f.name, Section: "file header", Err: err}
	}
	f.header = h
	return nil
}

// ticks converts a time stamp of the file to the trace's. A time out of range becomes the
// farthest one.
func (f *file) ticks(t int64) int64 {
	d := distance(t, f.base)
	if !f.scaled {
		return d
	}
	return since(rescaled(d, f.frequency, fileTimeTicks), -f.shift)
}

// distance returns t - base, or the closest to it that there is.
func distance(t, base int64) int64 {
	d := t - base
	switch {
	case t > base && d < 0:
		return math.MaxInt64
	case t < base && d > 0:
		return math.MinInt64
	}
	return d
}

// rescaled converts a number of ticks of one frequency to another.
func rescaled(ticks, from, to int64) int64 { return units.Rescale(ticks, uint64(to), uint64(from)) }

// align gives the files one time line, and returns its clock and the file that it starts
// with. Time stamps of one clock are compared unconverted, because the files' conversions
// to the time of day differ by some microseconds.
func align(files []*file) (*trace.Clock, *file) {
	first, same := files[0], true
	for _, f := range files {
		if f.header.start < first.header.start {
			first = f
		}
	}
	for _, f := range files {
		same = same && f.agrees(first)
	}
	if same {
		for _, f := range files {
			f.base = first.header.time
		}
		return &trace.Clock{Frequency: first.frequency}, first
	}
	for _, f := range files {
		f.base, f.scaled = f.header.time, true
		f.shift = f.header.start - first.header.start
	}
	return &trace.Clock{Frequency: fileTimeTicks}, first
}

// agrees reports whether the time stamps of f and o come from one clock. The starts of
// both files would then be as far apart by that clock as by the time of day, give or take
// a second.
func (f *file) agrees(o *file) bool {
	if f.frequency != o.frequency || f.header.clock != o.header.clock {
		return false
	}
	byTicks := float64(f.header.time-o.header.time) / float64(f.frequency)
	byDay := float64(f.header.start-o.header.start) / fileTimeTicks
	return -1 < byTicks-byDay && byTicks-byDay < 1
}
