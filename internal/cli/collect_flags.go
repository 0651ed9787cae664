package cli

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"
)

// A processNumber is a flag that takes the id of a process; 0 is none.
type processNumber int

func (n *processNumber) Type() string { return "PID" }

func (n *processNumber) String() string { return "" }

func (n *processNumber) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, 32)
	if err != nil || v <= 0 {
		return errors.New("a process id is a number above 0")
	}
	*n = processNumber(v)
	return nil
}

// A bufferSize is a flag that takes a size, at least 1: a runtime may die of a
// buffer without any.
type bufferSize uint32

func (m *bufferSize) Type() string { return "MB" }

func (m *bufferSize) String() string { return strconv.Itoa(int(*m)) }

func (m *bufferSize) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil || v == 0 || v > math.MaxInt32 {
		return errors.New("it is a number of megabytes, 1 or more")
	}
	*m = bufferSize(v)
	return nil
}

// A span is a flag that takes a time to last, as dotnet-trace writes it or as Go
// does; 0 is without end.
type span time.Duration

func (d *span) Type() string { return "TIME" }

func (d *span) String() string { return "" }

var daysHours = regexp.MustCompile(`^(\d{1,7}):(\d\d?):(\d\d?):(\d\d?)$`)

func (d *span) Set(s string) error {
	wrong := errors.New("it is dd:hh:mm:ss, or as in 90s or 1h30m")
	v, err := time.ParseDuration(s)
	if err == nil && v >= 0 {
		*d = span(v)
		return nil
	}
	parts := daysHours.FindStringSubmatch(s)
	if parts == nil {
		return wrong
	}
	units := [...]struct {
		below int
		is    time.Duration
	}{{100_000, 24 * time.Hour}, {24, time.Hour}, {60, time.Minute}, {60, time.Second}}
	v = 0
	for i, unit := range units {
		n, err := strconv.Atoi(parts[i+1])
		if err != nil || n >= unit.below {
			return wrong
		}
		v += time.Duration(n) * unit.is
	}
	*d = span(v)
	return nil
}
